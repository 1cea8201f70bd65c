import { setTimeout as sleep } from 'node:timers/promises'
import { type Command, InvalidArgumentError, Option } from 'commander'
import { usageGroupings } from '../../../src/store/index.ts'
import { type AdminClient, addAdminOptions, withAdmin } from '../admin/client.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { printJson } from '../output/json.ts'
import { createStyle } from '../output/style.ts'
import { readWidth } from '../output/table.ts'
import { parseSince, parseUntil } from '../output/times.ts'
import { print } from '../process/print.ts'
import { findId } from './account-id.ts'
import {
  readSums,
  readUsage,
  sortUsage,
  type UsageFilters,
  type UsageOrder,
  type UsageReport,
  usageOrders,
} from './usage-query.ts'
import { renderRepriced, reprice } from './usage-reprice.ts'
import { renderUsage, toCsv } from './usage-text.ts'
import { readCost, renderCost } from './usage-why.ts'

/** Adds `usage`, which shows sums of the usage log. */
export function addUsageCommand(root: Command): void {
  const usage = root
    .command('usage')
    .description('show what was used, with the course of its cost')
    .addOption(
      new Option('-g, --group-by <field>', 'what a row stands for')
        .choices(usageGroupings)
        .default('model'),
    )
    .option('--since <time>', 'begin: a date, an ISO time, or a duration before now', parseSince)
    .option('--until <time>', 'end, included (default: now)', parseUntil)
    .option('--key-id <id>', 'only the key with this id or name')
    .option('--group-id <id>', 'only the group with this id or name')
    .option('--model <id>', 'only this model, as clients ask for it')
    .option('--provider <name>', 'only this provider')
    .addOption(
      new Option('--sort <field>', 'order of the rows, the largest first')
        .choices(usageOrders)
        .default('cost'),
    )
    .option('--limit <count>', 'rows of the table (default: 20)', parseLimit)
    .option('--wide', 'do not fit the table to the terminal')
    .option('--json', 'print the answer of the admin API')
    .option('--csv', 'print comma-separated values')
    .option('--why <request id>', 'show what the cost of one request is made of')
    .option('--reprice', 'price the rows again by the configuration in force; changes nothing')
    .option('--write', 'with --reprice: keep the new costs in the rows')
    .option('--watch', 'show the table again every 2 seconds, until Ctrl-C')
  addAdminOptions(usage)
    .addHelpText('after', examples)
    .action((options: UsageOptions, command: Command) =>
      withAdmin({ command }, (admin) => showUsage(admin, options)),
    )
}

const examples = `
Without --since the last 7 days are shown.

Examples:
  gateway usage --group-by key_id --since 30d
  gateway usage --since 2026-11-01 --until 2026-11-30 --csv > november.csv
  gateway usage --since 24h --watch
  gateway usage --why 0b9a5c5e-6a31-4b0c-9b1e-1f6f0d6c2f57`

interface UsageOptions extends Omit<UsageFilters, 'since' | 'until'> {
  readonly since?: number
  readonly until?: number
  readonly sort: UsageOrder
  readonly limit?: number
  readonly wide?: boolean
  readonly json?: boolean
  readonly csv?: boolean
  readonly watch?: boolean
  readonly reprice?: boolean
  readonly write?: boolean
  /** The value of `x-request-id`. */
  readonly why?: string
}

async function showUsage(admin: AdminClient, options: UsageOptions): Promise<void> {
  const { json = false, csv = false, watch = false, write = false, why } = options
  if (Number(json) + Number(csv) + Number(watch) > 1) {
    throw new CommandFailure(2, 'give only one of --json, --csv and --watch')
  }
  if (options.reprice) return repriceUsage(admin, options)
  if (write) throw new CommandFailure(2, '--write needs --reprice')
  if (why !== undefined) return showCost(admin, why, options)
  const found = { ...options, ...(await findIds(admin, options)) }
  if (json) return printJson(await readSums(admin, resolveWindow(found)))
  if (csv) return print(toCsv(await readSorted(admin, found)))
  if (watch) return watchUsage(admin, found)
  await print(await renderTable(admin, found))
}

/** Resolves to the ids of the key and the group that the options name. */
async function findIds(admin: AdminClient, { keyId, groupId }: UsageOptions) {
  return {
    ...(keyId !== undefined && { keyId: await findId(admin, { noun: 'key', given: keyId }) }),
    ...(groupId !== undefined && {
      groupId: await findId(admin, { noun: 'group', given: groupId }),
    }),
  }
}

async function readSorted(admin: AdminClient, options: UsageOptions): Promise<UsageReport> {
  return sortUsage(await readUsage(admin, resolveWindow(options)), options.sort)
}

async function repriceUsage(admin: AdminClient, options: UsageOptions): Promise<void> {
  const { json = false, csv = false, watch = false, write = false, why, model } = options
  const { keyId, groupId, provider } = options
  if (csv || watch || why !== undefined || (keyId ?? groupId ?? provider) !== undefined) {
    throw new CommandFailure(
      2,
      '--reprice takes only --since, --until, --model, --write and --json',
    )
  }
  const { since, until } = resolveWindow(options)
  const groups = await reprice(admin, { since, until, model, write })
  if (json) return printJson({ since, until, groups })
  await print(renderRepriced(groups, { write, style: createStyle(), width: readWidth(options) }))
}

async function showCost(
  admin: AdminClient,
  id: string,
  { json = false, csv = false, watch = false }: UsageOptions,
): Promise<void> {
  if (csv || watch) throw new CommandFailure(2, '--why takes neither --csv nor --watch')
  const rows = await readCost(admin, id)
  if (json) return printJson({ rows })
  if (rows.length === 0) throw new CommandFailure(2, 'no row of the usage log has this request id')
  await print(renderCost(rows, createStyle()))
}

async function renderTable(admin: AdminClient, options: UsageOptions): Promise<string> {
  const { limit = 20 } = options
  const usage = await readSorted(admin, options)
  const isTerminal = process.stdout.isTTY === true
  return renderUsage(usage, { limit, isTerminal, style: createStyle(), width: readWidth(options) })
}

async function watchUsage(admin: AdminClient, options: UsageOptions): Promise<void> {
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  while (!stop.signal.aborted) {
    const text = await renderTable(admin, options)
    await print(process.stdout.isTTY ? `${clearScreen}${text}` : `${text}\n`)
    await sleep(2_000, undefined, { signal: stop.signal }).catch(() => {})
  }
}

/** Moves the cursor to the top and clears the screen and what has scrolled. */
const clearScreen = '\u001B[H\u001B[2J\u001B[3J'

const week = 604_800

function resolveWindow(options: UsageOptions): UsageFilters {
  const until = options.until ?? Math.floor(Date.now() / 1000)
  return { ...options, until, since: options.since ?? until - week }
}

function parseLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= 1_000) return limit
  throw new InvalidArgumentError('must be a whole number from 1 to 1000')
}
