import { type Command, Option } from 'commander'
import * as z from 'zod'
import { type AdminClient, addAdminOptions, withAdmin } from '../admin/client.ts'
import { DatabaseMissing } from '../failures/database-failure.ts'
import { printJson } from '../output/json.ts'
import { readWidth } from '../output/table.ts'
import { print, printNote } from '../process/print.ts'
import { findId, readGroupNames } from './account-id.ts'
import { type AccountRecord, accountSchema, createView, renderAccounts } from './account-text.ts'

type Noun = 'key' | 'group'

/** Adds `list` for keys or groups. */
export function addAccountList(parent: Command, noun: Noun): void {
  const list = addAdminOptions(parent.command('list').alias('ls'))
    .option('--all', `also show deleted ${noun}s`)
    .addOption(
      new Option('--sort <field>', 'order (default: as they were created)').choices(
        Object.keys(orders),
      ),
    )
    .option('--wide', 'do not fit the table to the terminal')
    .option('--json', 'print the answer of the admin API')
  if (noun === 'key')
    list.option('--group <group>', 'only the keys of the group with this name or id')
  list
    .description(`list the ${noun}s with their spend`)
    .addHelpText('after', `\nExample:\n  gateway ${noun}s list --sort spent`)
    .action((options: ListOptions, command: Command) =>
      withAdmin({ command }, (admin) => readList(admin, noun, options))
        .catch(listNone)
        .then((listed) => printList(listed, { noun, options })),
    )
}

interface ListOptions {
  readonly all?: boolean
  readonly group?: string
  readonly sort?: string
  readonly wide?: boolean
  readonly json?: boolean
}

interface Listed {
  /** What the admin API has answered. */
  readonly answer: object
  readonly accounts: readonly AccountRecord[]
  /** The names of groups by their ids. */
  readonly groups: ReadonlyMap<string, string>
}

async function readList(admin: AdminClient, noun: Noun, options: ListOptions): Promise<Listed> {
  const { all = false, group, sort, json = false } = options
  const groupId =
    group === undefined ? undefined : await findId(admin, { noun: 'group', given: group })
  const query = all ? '?include_deleted=true' : ''
  const answer = listSchema.parse(await admin.send('GET', `/admin/${noun}s${query}`))
  const found = (answer[`${noun}s`] ?? []).filter(
    (account) => groupId === undefined || account.group_id === groupId,
  )
  const accounts = sort === undefined ? found : [...found].sort(orders[sort])
  const needsNames = !json && accounts.some((account) => account.group_id != null)
  return { answer, accounts, groups: needsNames ? await readGroupNames(admin) : new Map() }
}

const accountsSchema = z.array(accountSchema).optional()

const listSchema = z.looseObject({ keys: accountsSchema, groups: accountsSchema })

/** The largest amounts come first. */
const orders: Readonly<Record<string, (one: AccountRecord, other: AccountRecord) => number>> = {
  name: (one, other) => one.name.localeCompare(other.name),
  spent: (one, other) => other.budget_spent - one.budget_spent,
  budget: (one, other) => readShare(other) - readShare(one),
  created: (one, other) => other.created_at - one.created_at,
}

/** The part of the budget that is spent; without a budget below all others. */
function readShare({ budget_max: max, budget_spent: spent }: AccountRecord): number {
  if (max === null) return -1
  return max === 0 ? Number.MAX_VALUE : spent / max
}

/** Without a database there are no records; a warning says that there is none. */
async function listNone(failure: unknown): Promise<Listed> {
  if (!(failure instanceof DatabaseMissing)) throw failure
  await printNote(`warning: ${failure.message}`)
  return { answer: {}, accounts: [], groups: new Map() }
}

interface Print {
  readonly noun: Noun
  readonly options: ListOptions
}

async function printList(
  { answer, accounts, groups }: Listed,
  { noun, options }: Print,
): Promise<void> {
  if (options.json) return printJson({ ...answer, [`${noun}s`]: accounts })
  if (accounts.length === 0) return print(`there are no ${noun}s`)
  const view = { ...createView(), groups, width: readWidth(options) }
  await print(renderAccounts(accounts, view))
}
