import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
import { loadConfig } from '../../../src/config/index.ts'
import { kinds } from '../../../src/providers/index.ts'
import { configOption, defaultConfig } from '../config/config-text.ts'
import { findVendors } from '../config/well-known.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { print } from '../process/print.ts'
import { writeInitialConfig } from './initial-config.ts'

/** Adds `init`, which writes a first configuration file. */
export function addInitCommand(root: Command): void {
  root
    .command('init')
    .description('write a configuration with a provider for every well-known key that is set')
    .option(...configOption)
    .option('--force', 'replace a file that exists')
    .addHelpText('after', '\nExample:\n  OPENAI_API_KEY=$KEY gateway init && gateway')
    .action((_: unknown, command: Command) => init({ ...command.optsWithGlobals() }))
}

interface InitOptions {
  readonly config?: string
  readonly force?: boolean
}

async function init({ config: path = defaultConfig, force = false }: InitOptions): Promise<void> {
  const text = await addPrices(writeInitialConfig(process.env))
  await writeFile(path, text, { flag: force ? 'w' : 'wx' }).catch(
    ({ code }: NodeJS.ErrnoException) => {
      if (code === 'EEXIST') {
        throw new CommandFailure(2, `${path}: exists; replace it with --force`)
      }
      throw new CommandFailure(1, `${path}: cannot be written (${code})`)
    },
  )
  const vendors = findVendors(process.env)
  const found = vendors.map(({ kind, variable }) => `${kind} (${variable})`).join(', ')
  const named = path === defaultConfig ? '' : ` --config ${path}`
  const providers = found === '' ? 'the demo provider, because no known key is set' : found
  await print(`wrote ${path} with ${providers}\nstart it with: gateway${named}`)
}

/** Writes the prices of the models, as `gateway prices --write` does. */
async function addPrices(text: string): Promise<string> {
  const { comparePrices, openShippedTable, planWrites, writePrices } = await import(
    '../prices/index.ts'
  )
  const loaded = await loadConfig({ text, env: process.env, kinds })
  if (!loaded.ok) return text
  const catalogue = await openShippedTable()
  const { models } = comparePrices(loaded.config, { catalogue, kinds })
  const writes = await planWrites(models, { text, onlyMissing: false })
  return (await writePrices(text, writes, catalogue)) ?? text
}
