import { readFile, writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { CommandFailure } from '../command-failure.ts'
import { convertLitellm } from '../import/litellm.ts'
import { print, printFailure } from '../print.ts'

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
  // Loaded here, because only this command reads YAML.
  const { parse, YAMLParseError } = await import('yaml')
  let document: unknown
  try {
    document = parse(text)
  } catch (error) {
    if (error instanceof YAMLParseError) throw new CommandFailure(2, `${file}: ${error.message}`)
    throw error
  }
  const { toml, notes } = convertLitellm(document)
  if (out === undefined) await print(toml.trimEnd())
  else await writeNew(out, toml)
  if (notes.length > 0) await printFailure(['not converted:', ...notes].join('\n'))
}

async function writeNew(path: string, text: string): Promise<void> {
  await writeFile(path, text, { flag: 'wx' }).catch(({ code }: NodeJS.ErrnoException) => {
    if (code === 'EEXIST') throw new CommandFailure(2, `${path}: exists; choose another name`)
    throw new CommandFailure(1, `${path}: cannot be written (${code})`)
  })
  await print(`wrote ${path}`)
}
