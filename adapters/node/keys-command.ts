import { type Command, InvalidArgumentError, Option } from 'commander'
import { createKeyEntry } from '../../src/accounting/index.ts'
import { modelField, nameField, renderKey } from '../../src/admin/index.ts'
import { mintKey, newKeyId } from '../../src/auth/index.ts'
import { type BudgetPeriod, budgetPeriods } from '../../src/core/budget-period.ts'
import type { GroupId, NanoUsd } from '../../src/core/ids.ts'
import { parseBudget } from '../../src/core/money.ts'
import type { KeyRow, OpenStore, Store } from '../../src/store/index.ts'
import { CommandFailure } from './command-failure.ts'
import { withStore } from './command-store.ts'
import { configOption } from './config-text.ts'
import { print } from './print.ts'

/** Adds `keys create` and `keys list`, which open the database directly, also while a gateway runs. */
export function addKeysCommand(root: Command, openStore: OpenStore): void {
  const keys = root.command('keys').description('create and list virtual keys in the database')
  keys
    .command('create')
    .description('create a key and print it with its secret, which is not shown again')
    .requiredOption('--name <text>', 'name of the key', parseName)
    .option('--budget-max <usd>', 'total budget in US dollars', parseBudgetOption)
    .option(
      '--models <ids...>',
      'models that the key may use; a trailing * matches any ending',
      parseModels,
    )
    .addOption(periodOption)
    .option('--rpm-limit <count>', 'requests per minute', parseCount)
    .option('--tpm-limit <count>', 'tokens per minute', parseCount)
    .option('--max-parallel <count>', 'requests at once', parseCount)
    .option('--expires-at <time>', 'expiry time in unix seconds', parseCount)
    .option('--group-id <id>', 'budget group that the key also draws on')
    .option(...configOption)
    .addHelpText('after', `\n${reloadNote}`)
    .addHelpText('after', '\nExample:\n  gateway keys create --name "my app" --budget-max 5')
    .action((wanted: NewKeyOptions, command: Command) =>
      withStore({ command, openStore }, (store) => create(store, wanted)),
    )
  keys
    .command('list')
    .description('print the keys without their secrets; deleted keys are left out')
    .option(...configOption)
    .addHelpText('after', '\nExample:\n  gateway keys list --config gateway.toml')
    .action((_: unknown, command: Command) => withStore({ command, openStore }, list))
}

const periodOption = new Option(
  '--budget-period <period>',
  'when the spend starts again from 0, in UTC',
).choices(budgetPeriods)

const reloadNote =
  'A running gateway accepts the key once it reloads its configuration (SIGHUP) or restarts.'

interface NewKeyOptions {
  readonly name: string
  readonly models?: readonly string[]
  readonly budgetMax?: NanoUsd
  readonly budgetPeriod?: BudgetPeriod
  readonly rpmLimit?: number
  readonly tpmLimit?: number
  readonly maxParallel?: number
  readonly expiresAt?: number
  readonly groupId?: string
}

async function create(store: Store, wanted: NewKeyOptions): Promise<void> {
  const { plaintext, digest } = mintKey()
  const id = newKeyId()
  const createdAt = Math.floor(Date.now() / 1000)
  const entry = {
    ts: createdAt,
    action: 'key.create',
    subjectId: id,
    requestId: null,
    client: null,
  } as const
  const row = await store.audited(entry).createKey({
    id,
    name: wanted.name,
    // The database checks that the group exists.
    groupId: (wanted.groupId ?? null) as GroupId | null,
    models: wanted.models ?? null,
    budgetMax: wanted.budgetMax ?? null,
    budgetPeriod: wanted.budgetPeriod ?? null,
    rpmLimit: wanted.rpmLimit ?? null,
    tpmLimit: wanted.tpmLimit ?? null,
    maxParallel: wanted.maxParallel ?? null,
    expiresAt: wanted.expiresAt ?? null,
    disabled: false,
    createdAt,
    digest,
  })
  if (row === 'unknown-group') {
    throw new CommandFailure(2, `--group-id: no group has the id ${JSON.stringify(wanted.groupId)}`)
  }
  await printJson({ ...renderRow(row), key: plaintext })
  // Only for people: a script may take any text on standard error for a failure.
  if (process.stderr.isTTY) process.stderr.write(`${reloadNote}\n`)
}

async function list(store: Store): Promise<void> {
  const { keys } = await store.readAccounts()
  await printJson({ keys: keys.filter(({ deletedAt }) => deletedAt === null).map(renderRow) })
}

function renderRow(row: KeyRow): object {
  const entry = createKeyEntry(row)
  entry.turn(Date.now())
  return renderKey(entry)
}

function parseName(text: string): string {
  const { data: name, error } = nameField.safeParse(text)
  if (name !== undefined) return name
  throw new InvalidArgumentError(error?.issues[0]?.message ?? '')
}

/** Commander calls it for each value of the option. */
function parseModels(text: string, before: readonly string[] = []): readonly string[] {
  const { data: model, error } = modelField.safeParse(text)
  if (model !== undefined) return [...before, model]
  throw new InvalidArgumentError(error?.issues[0]?.message ?? '')
}

function parseBudgetOption(text: string): NanoUsd {
  const usd = /^\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i.test(text) ? Number(text) : Number.NaN
  const budget = parseBudget(usd)
  if (budget !== undefined) return budget
  throw new InvalidArgumentError('must be 0, or a number of US dollars from 1e-9 to 1e12')
}

function parseCount(text: string): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN
  if (Number.isSafeInteger(count)) return count
  throw new InvalidArgumentError('must be a whole number, 0 or more')
}

function printJson(value: object): Promise<void> {
  return print(JSON.stringify(value, null, 2))
}
