// Builds dist/: the library for those who embed the gateway, and the bundled host.
import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, rmSync } from 'node:fs'
import { build } from 'esbuild'

const shared = {
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  logLevel: 'warning',
}

rmSync('dist', { recursive: true, force: true })

// Both entries share their chunks, so that a port made by one is understood by the other.
await build({
  ...shared,
  entryPoints: { index: 'src/index.ts', node: 'adapters/node/index.ts' },
  outdir: 'dist',
  splitting: true,
  chunkNames: 'shared/[hash]',
  packages: 'external',
})

// Parts that were written as CommonJS call require().
const withRequire = {
  js: "import { createRequire as __createRequire } from 'node:module'; const require = __createRequire(import.meta.url);",
}

// The command, which any Node can read: it says which one is needed, or loads the host.
await build({
  ...shared,
  target: 'node14',
  entryPoints: { gateway: 'adapters/node/bin.mjs' },
  outdir: 'dist',
})

// One file for the host: loading the packages loose would triple its start time.
await build({
  ...shared,
  entryPoints: { main: 'adapters/node/main.ts' },
  outdir: 'dist',
  minifySyntax: true,
  sourcemap: 'linked',
  legalComments: 'none',
  banner: withRequire,
})

// The thread that counts tokens. Each table of tokens is a file of its own, read when it is needed.
await build({
  ...shared,
  entryPoints: { 'tokenizer-worker': 'adapters/node/tokenizer/worker.ts' },
  outdir: 'dist',
  splitting: true,
  chunkNames: 'tokens/[name]-[hash]',
  minifySyntax: true,
  legalComments: 'none',
})

// The thread of the database. What it loads natively stays a package; the tables it creates and
// changes are read at run time.
await build({
  ...shared,
  entryPoints: { 'store-worker': 'adapters/node/store/worker.ts' },
  outdir: 'dist',
  external: ['libsql'],
  minifySyntax: true,
  legalComments: 'none',
  banner: withRequire,
})
cpSync('src/store/migrations', 'dist/migrations', {
  recursive: true,
  filter: (path) => !path.endsWith('_snapshot.json'),
})

chmodSync('dist/gateway.js', 0o755)

if (!process.argv.includes('--no-types')) {
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
    stdio: 'inherit',
  })
}
