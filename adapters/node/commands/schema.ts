import type { Command } from 'commander'
import { printJson } from '../output/json.ts'

/** Adds `schema`, which prints the JSON Schema of the configuration file. */
export function addSchemaCommand(root: Command): void {
  root
    .command('schema')
    .description('print the JSON Schema of the configuration file, for editors')
    .addHelpText('after', '\nExample:\n  gateway schema > gateway.schema.json')
    .action(async () => {
      const file = await import('../../../gateway.schema.json', { with: { type: 'json' } })
      await printJson(file.default)
    })
}
