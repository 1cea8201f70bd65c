import { readFile, writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { checkConfig } from '../../../src/index.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { convertLitellm } from '../import/litellm.ts'
import { parseYaml } from '../import/yaml.ts'
import { print, printNote } from '../process/print.ts'

/** Adds `import litellm`, which converts the configuration of another gateway. */
export function addImportCommand(root: Command): void {
  root
    .command('import')
    .description('convert the configuration of another gateway')
    .addHelpText('after', example)
    .command('litellm <file>')
    .description('convert a config.yaml of LiteLLM; what has no equal is listed on standard error')
    .option('--out <path>', 'write to this new file instead of standard output')
    .addHelpText('after', example)
    .action((file: string, { out }: { readonly out?: string }) => importLitellm(file, out))
}

const example = '\nExample:\n  gateway import litellm config.yaml --out config.toml'

async function importLitellm(file: string, out: string | undefined): Promise<void> {
  const text = await readFile(file, 'utf8').catch(({ code }: NodeJS.ErrnoException) => {
    throw new CommandFailure(2, `${file}: ${code === 'ENOENT' ? 'no such file' : code}`)
  })
  const document = await parseYaml(file, text)
  const { toml, left, next } = convertLitellm(document, { name: file, env: process.env })
  if (out === undefined) await print(toml.trimEnd())
  else await writeNew(out, toml)
  if (left.length > 0) await printNote(['not converted:', ...left].join('\n'))
  if (next.length > 0) await printNote(['next:', ...next].join('\n'))
  await checkResult(toml)
}

/** Says why the gateway would not take the result, which is printed all the same: it is nearly done. */
async function checkResult(toml: string): Promise<void> {
  const openPrices = async () => (await import('../prices/index.ts')).openPrices()
  const verdict = await checkConfig(toml, {}, { openPrices })
  if (verdict.ok) return
  throw new CommandFailure(2, 'the result is not a valid configuration:', ...verdict.problems)
}

async function writeNew(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'wx' }).catch(({ code }: NodeJS.ErrnoException) => {
    if (code === 'EEXIST') throw new CommandFailure(2, `${path}: exists; choose another name`)
    throw new CommandFailure(1, `${path}: cannot be written (${code})`)
  })
  await print(`wrote ${path}`)
}
