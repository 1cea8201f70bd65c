import { join } from 'node:path'
import { build, type Metafile } from 'esbuild'
import { expect, test } from 'vitest'

const main = 'adapters/node/main.ts'
/** What `serve`, the default command, loads before it does anything. */
const serve = 'adapters/node/commands/run-serve.ts'

/** Bundles the command as the package has it, without writing it. */
async function bundle(): Promise<Metafile> {
  const { metafile } = await build({
    entryPoints: [main],
    outdir: 'unwritten',
    write: false,
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    metafile: true,
    logLevel: 'error',
  })
  return metafile
}

/** The files that a start loads: those of the command and of `serve` that no further `import()` stands before. */
function listLoaded({ outputs }: Metafile): Set<string> {
  const loaded = new Set(
    Object.keys(outputs).filter((file) => {
      const { entryPoint = '' } = outputs[file] ?? {}
      return [main, serve].includes(entryPoint)
    }),
  )
  for (const file of loaded) {
    for (const { kind, path } of outputs[file]?.imports ?? []) {
      if (kind === 'import-statement' && path in outputs) loaded.add(path)
    }
  }
  return new Set([...loaded].flatMap((file) => Object.keys(outputs[file]?.inputs ?? {})))
}

test('a start loads no exporter of traces, which is in a chunk of its own', async () => {
  const metafile = await bundle()
  const exporting = join('adapters', 'node', 'traces', 'open-export.ts')
  expect(Object.keys(metafile.inputs)).toContain(exporting)
  const loaded = [...listLoaded(metafile)]
  expect(loaded).toContain('adapters/node/ports/traces.ts')
  // prom-client imports the API, which does nothing by itself.
  const packages = /@opentelemetry\/(?!api\/)/
  expect(loaded.filter((file) => file === exporting || packages.test(file))).toEqual([])
})
