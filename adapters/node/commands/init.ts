import { writeFile } from 'node:fs/promises'
import type { Command } from 'commander'
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
  const text = writeInitialConfig(process.env)
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
