import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { type AdminClient, addAdminOptions, withAdmin } from '../admin/client.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { printJson } from '../output/json.ts'
import { print, printNote } from '../process/print.ts'
import { findId, readGroupNames } from './account-id.ts'
import { addAccountList } from './account-list.ts'
import { parseAmount, toFields } from './account-options.ts'
import { type AccountRecord, accountSchema, createView, renderAccount } from './account-text.ts'

/** Keys or groups, which have most commands in common. */
export interface Accounts {
  readonly noun: 'key' | 'group'
  readonly path: '/admin/keys' | '/admin/groups'
  /** Adds the options of `create` and `update`. */
  readonly addFields: (command: Command) => Command
}

/** The output options of commands that answer with a record. */
export interface RecordOutput {
  readonly json?: boolean
  readonly quiet?: boolean
}

/** Adds `create`, `list`, `show`, `update`, `grant` and `delete`. */
export function addAccountCommands(parent: Command, accounts: Accounts): void {
  addCreate(parent, accounts)
  addAccountList(parent, accounts.noun)
  addChange(parent, accounts, {
    usage: 'show <id>',
    description: `show one ${accounts.noun}`,
    example: 'show 5f0c3a7e',
    request: () => ({ method: 'GET' }),
  })
  addUpdate(parent, accounts)
  addGrant(parent, accounts)
  addDelete(parent, accounts)
}

export interface ChangeCommand {
  /** The name and the arguments of the command; the first argument is the id. */
  readonly usage: string
  readonly description: string
  /** What follows the name of the group of commands in the example. */
  readonly example: string
  readonly addOptions?: (command: Command) => Command
  readonly request: (options: Readonly<Record<string, unknown>>) => {
    readonly method: 'GET' | 'POST' | 'PATCH'
    /** What follows the path of the record. */
    readonly suffix?: string
    readonly body?: object
  }
}

/** Adds a command that names one record by its id and prints the record of the answer. */
export function addChange(parent: Command, accounts: Accounts, change: ChangeCommand): void {
  const { usage, description, example, addOptions = (command) => command, request } = change
  addOutput(addAdminOptions(addOptions(parent.command(usage))))
    .description(description)
    .addHelpText('after', `\nExample:\n  gateway ${accounts.noun}s ${example}`)
    .action((id: string, options: RecordOutput & Record<string, unknown>, command: Command) =>
      withAdmin({ command }, async (admin) => {
        const { method, suffix = '', body } = request(options)
        const path = await resolvePath(admin, accounts, id)
        const fields = body && (await resolveGroup(admin, body))
        await printRecord(admin, await admin.send(method, path + suffix, fields), options)
      }),
    )
}

function addCreate(parent: Command, { noun, path, addFields }: Accounts): void {
  const create = addFields(
    parent.command('create').requiredOption('--name <text>', `name of the ${noun}`),
  )
  const printed = noun === 'key' ? 'secret' : 'id'
  create.option('-q, --quiet', `print only the ${printed}, for scripts`)
  addOutput(addAdminOptions(create))
    .description(
      noun === 'key'
        ? 'create a key and print it with its secret, which is not shown again'
        : 'create a budget group',
    )
    .addHelpText('after', `\nExample:\n  gateway ${noun}s create --name "my app" --budget-max 5`)
    .action((options: RecordOutput, command: Command) =>
      withAdmin({ command, onMissing: noun === 'key' ? 'create' : 'reject' }, async (admin) => {
        const fields = await resolveGroup(admin, toFields(options))
        await printRecord(admin, await admin.send('POST', path, fields), options)
        if (admin.needsReload) await printNote(reloadNote)
      }),
    )
}

const reloadNote =
  'a gateway that runs on this database accepts the key after a reload (SIGHUP) or a restart'

function addUpdate(parent: Command, accounts: Accounts): void {
  const { noun, addFields } = accounts
  addChange(parent, accounts, {
    usage: 'update <id>',
    description: `change fields of a ${noun}; \`none\` removes a limit`,
    example: 'update 5f0c3a7e --budget-max 20 --rpm-limit none',
    addOptions: (command) => addFields(command.option('--name <text>', 'new name')),
    request(options) {
      const body = toFields(options)
      if (Object.keys(body).length > 0) return { method: 'PATCH', body }
      throw new CommandFailure(
        2,
        "nothing to change: give an option, as 'update --help' lists them",
      )
    },
  })
}

function addGrant(parent: Command, accounts: Accounts): void {
  const { noun } = accounts
  addOutput(
    addAdminOptions(parent.command('grant <id>').argument('<usd>', 'US dollars', parseAmount)),
  )
    .description(`add US dollars to the budget of a ${noun}`)
    .addHelpText('after', `\nExample:\n  gateway ${noun}s grant 5f0c3a7e 2.50`)
    .action((id: string, amount: number, options: RecordOutput, command: Command) =>
      withAdmin({ command }, async (admin) => {
        const path = await resolvePath(admin, accounts, id)
        await printRecord(admin, await admin.send('POST', `${path}/grant`, { amount }), options)
      }),
    )
}

function addDelete(parent: Command, accounts: Accounts): void {
  const { noun } = accounts
  addAdminOptions(parent.command('delete <id>').alias('rm'))
    .option('-y, --yes', 'do not ask; required when standard input is not a terminal')
    .description(`delete a ${noun} for good`)
    .addHelpText('after', `\nExample:\n  gateway ${noun}s delete 5f0c3a7e --yes`)
    .action((id: string, { yes = false }: { yes?: boolean }, command: Command) =>
      withAdmin({ command }, async (admin) => {
        const path = await resolvePath(admin, accounts, id)
        if (!yes) await confirm(accountSchema.parse(await admin.send('GET', path)), noun)
        await admin.send('DELETE', path)
        await print(`deleted the ${noun} ${path.replace(/^.*\//, '')}`)
      }),
    )
}

function addOutput(command: Command): Command {
  return command.option('--json', 'print the answer of the admin API')
}

async function confirm({ name, id }: AccountRecord, noun: string): Promise<void> {
  if (!process.stdin.isTTY) {
    throw new CommandFailure(2, '--yes: required, because standard input is not a terminal')
  }
  const reader = createInterface({ input: process.stdin, output: process.stderr })
  const question = reader.question(`Delete the ${noun} "${name}" (${id}) for good? [y/N] `)
  // Ctrl-D closes the reader without a reply.
  const closed = new Promise<string>((resolve) => reader.once('close', () => resolve('')))
  const reply = await Promise.race([question, closed])
  reader.close()
  if (!/^y(es)?$/i.test(reply.trim())) throw new CommandFailure(1, 'nothing was deleted')
}

/** Resolves to the path of a record by its id, by the first digits of the id, or by its name. */
async function resolvePath(
  admin: AdminClient,
  { noun, path }: Accounts,
  given: string,
): Promise<string> {
  return `${path}/${await findId(admin, { noun, given })}`
}

/** Resolves to the fields with the id of the group that they name. */
async function resolveGroup(admin: AdminClient, fields: object): Promise<object> {
  const { group_id: given } = fields as { group_id?: unknown }
  if (typeof given !== 'string') return fields
  return { ...fields, group_id: await findId(admin, { noun: 'group', given }) }
}

/** Prints a record; with its secret, if it has a new one. */
async function printRecord(
  admin: AdminClient,
  answer: unknown,
  options: RecordOutput,
): Promise<void> {
  const account = accountSchema.parse(answer)
  const secret = account['key']
  if (options.quiet) return print(typeof secret === 'string' ? secret : account.id)
  if (options.json) return printJson(answer)
  const hasGroup = account.group_id != null
  const view = { ...createView(), ...(hasGroup && { groups: await readGroupNames(admin) }) }
  const text = renderAccount(account, view)
  if (typeof secret !== 'string') return print(text)
  await print(`${text}\n\n${view.style.bold(secret)}\n\nThe secret is not shown again.`)
}
