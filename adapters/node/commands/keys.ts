import { type Command, InvalidArgumentError } from 'commander'
import { parseDuration } from '../output/times.ts'
import { addLimitOptions, orNone, parseExpiry } from './account-options.ts'
import { type Accounts, addAccountCommands, addChange } from './accounts.ts'

/** Adds `keys`, which works on virtual keys through the admin API. */
export function addKeysCommand(root: Command): void {
  const parent = root
    .command('keys')
    .description('create, list and change virtual keys')
    .addHelpText(
      'after',
      `${idNote}

Example:
  gateway keys create --name alice --budget-max 20`,
    )
  addAccountCommands(parent, keys)
  addChange(parent, keys, {
    usage: 'rotate <id>',
    description: 'replace the secret of a key and print the new one, which is not shown again',
    example: 'rotate 5f0c3a7e --grace 24h',
    addOptions: (command) =>
      command
        .option('--grace <duration>', 'how long the former secret still works', parseGrace)
        .option('-q, --quiet', 'print only the secret, for scripts'),
    request: ({ grace = 0 }) => ({
      method: 'POST',
      suffix: '/rotate',
      body: { grace_seconds: grace },
    }),
  })
  for (const [verb, disabled] of [
    ['disable', true],
    ['enable', false],
  ] as const) {
    addChange(parent, keys, {
      usage: `${verb} <id>`,
      description: disabled ? 'refuse requests with a key' : 'accept a disabled key again',
      example: `${verb} 5f0c3a7e`,
      request: () => ({ method: 'PATCH', body: { disabled } }),
    })
  }
}

/** The note on ids in the help of keys and groups. */
export const idNote =
  '\nAn id may be given by its first digits, 4 or more, or by the name, if only one record has them.'

const keys: Accounts = {
  noun: 'key',
  path: '/admin/keys',
  addFields: (command) =>
    addLimitOptions(command)
      .option(
        '--expires-at <time>',
        'a date, an ISO time, unix seconds, or a duration from now such as 30d',
        parseExpiry,
      )
      .option(
        '--group-id <id>',
        'group whose budget and limits the key shares: its id or name',
        orNone,
      ),
}

/** Parses a duration such as `24h`, or seconds. */
function parseGrace(text: string): number {
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : parseDuration(text)
  if (seconds !== undefined) return seconds
  throw new InvalidArgumentError('must be a number of seconds, or a duration such as 24h')
}
