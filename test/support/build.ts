import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { buildConsole } from '../../scripts/console.mjs'

const repository = fileURLToPath(new URL('../../', import.meta.url))

/**
 * Builds the package once for all files of a run, before the first of them. Vitest calls it for each group
 * whose files start processes.
 */
export default async function buildOnce(): Promise<(() => void) | undefined> {
  if (process.env['BUILT_GATEWAY'] !== undefined) return undefined
  const folder = mkdtempSync(join(tmpdir(), 'gateway-package-'))
  // Some tests run it as another user.
  chmodSync(folder, 0o755)
  await buildPackage(folder)
  // The processes of the tests inherit them.
  process.env['BUILT_GATEWAY'] = folder
  process.env['BUILT_STORE_WORKER'] = join(folder, 'dist', 'store-worker.js')
  return () => rmSync(folder, { recursive: true })
}

/**
 * The shipped executable: files in `dist` with the module of the database thread, the migrations and the
 * page of the console, and the demo configuration beside the folder.
 */
async function buildPackage(folder: string): Promise<void> {
  const dist = join(folder, 'dist')
  await build({
    absWorkingDir: repository,
    entryPoints: {
      gateway: 'adapters/node/bin.mjs',
      main: 'adapters/node/main.ts',
      worker: 'adapters/node/workers/worker.ts',
      'store-worker': 'adapters/node/store/worker.ts',
    },
    outdir: dist,
    bundle: true,
    splitting: true,
    minifyWhitespace: true,
    minifySyntax: true,
    format: 'esm',
    platform: 'node',
    external: ['libsql'],
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
  })
  await buildConsole(join(dist, 'console'))
  cpSync(join(repository, 'src/store/migrations'), join(dist, 'migrations'), { recursive: true })
  cpSync(join(repository, 'adapters/node/prices/prices.json'), join(dist, 'prices.json'))
  cpSync(join(repository, 'src/shared/functions'), join(dist, 'functions'), { recursive: true })
  // A native library stays a package.
  symlinkSync(join(repository, 'node_modules'), join(folder, 'node_modules'))
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
  copyFileSync(join(repository, 'demo.toml'), join(folder, 'demo.toml'))
}
