import type { Command } from 'commander'
import { addAdminOptions, withAdmin } from '../admin-client.ts'
import { print } from '../print.ts'
import {
  addLimitOptions,
  type LimitOptions,
  orNone,
  parseTime,
  toFields,
} from './account-options.ts'

/** Adds `keys`, which works on virtual keys through the admin API. */
export function addKeysCommand(root: Command): void {
  const keys = root.command('keys').description('create and list virtual keys')
  const create = keys
    .command('create')
    .description('create a key and print it with its secret, which is not shown again')
    .requiredOption('--name <text>', 'name of the key')
  addKeyOptions(create)
    .addHelpText('after', '\nExample:\n  gateway keys create --name "my app" --budget-max 5')
    .action((options: KeyOptions, command: Command) =>
      withAdmin(command, async (admin) => {
        await printJson(await admin.send('POST', '/admin/keys', toFields(options)))
      }),
    )
  addAdminOptions(keys.command('list'))
    .description('print the keys without their secrets; deleted keys are left out')
    .addHelpText('after', '\nExample:\n  gateway keys list --config gateway.toml')
    .action((_: unknown, command: Command) =>
      withAdmin(command, async (admin) => printJson(await admin.send('GET', '/admin/keys'))),
    )
}

interface KeyOptions extends LimitOptions {
  readonly expiresAt?: number | null
  readonly groupId?: string | null
}

function addKeyOptions(command: Command): Command {
  addLimitOptions(command)
    .option('--expires-at <time>', 'unix seconds, an ISO time, or a duration like 30d', parseTime)
    .option('--group-id <id>', 'group whose limits and budget the key shares', orNone)
  return addAdminOptions(command)
}

function printJson(value: unknown): Promise<void> {
  return print(JSON.stringify(value, null, 2))
}
