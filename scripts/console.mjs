// Builds the page of the console: one script, one style sheet, and two files as they are.
import { copyFileSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { build } from 'esbuild'

const page = 'adapters/node/console/page'

/** Builds the page into a folder. Resolves to what the script and the style sheet consist of. */
export async function buildConsole(folder) {
  mkdirSync(folder, { recursive: true })
  for (const file of ['index.html', 'icon.svg']) copyFileSync(join(page, file), join(folder, file))
  const { metafile } = await build({
    entryPoints: ['main.tsx', 'console.css'].map((file) => ({
      in: join(page, file),
      out: 'console',
    })),
    outdir: folder,
    bundle: true,
    minify: true,
    format: 'esm',
    target: 'es2023',
    jsx: 'automatic',
    jsxImportSource: 'preact',
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  })
  return metafile
}
