import { type Command, InvalidArgumentError } from 'commander'
import * as z from 'zod'
import { type AdminClient, addAdminOptions, withAdmin } from '../admin/client.ts'
import { CommandFailure } from '../failures/command-failure.ts'
import { printJson } from '../output/json.ts'
import { createStyle } from '../output/style.ts'
import { readWidth } from '../output/table.ts'
import { parseSince, parseUntil } from '../output/times.ts'
import { print } from '../process/print.ts'
import { pageSchema, renderDetails, renderRequests } from './requests-text.ts'

/** Adds `requests`, which finds requests and says why they failed. */
export function addRequestsCommand(root: Command): void {
  const requests = root
    .command('requests')
    .description('find requests, and say why they were refused or failed')
    .option('--failed', 'only requests that were refused or failed')
    .option('--since <time>', 'begin: a date, an ISO time, or a duration before now', parseSince)
    .option('--until <time>', 'end, included (default: now)', parseUntil)
    .option('--key <id>', 'only this key: its id, the first digits of it, or its name')
    .option('--model <id>', 'only this model, as clients ask for it')
    .option('--provider <name>', 'only this provider')
    .option('--status <status>', 'only this status, such as 429, or this class, such as 4xx')
    .option('--code <code>', 'only this error code, such as LM-4001')
    .option('--id <request id>', 'all that is known of one request')
    .option('--limit <count>', 'rows of the table (default: 20)', parseLimit)
    .option('--wide', 'do not fit the table to the terminal')
    .option('--json', 'print the answer of the admin API')
  addAdminOptions(requests)
    .addHelpText('after', examples)
    .action((options: RequestsOptions, command: Command) =>
      withAdmin({ command }, (admin) => showRequests(admin, options)),
    )
}

const examples = `
Without --since the last 24 hours are shown, and --id looks at all that is kept.

Examples:
  gateway requests --failed --since 10m
  gateway requests --key 5f0c3a7e --status 429
  gateway requests --id 0b9a5c5e-6a31-4b0c-9b1e-1f6f0d6c2f57`

interface RequestsOptions {
  readonly failed?: boolean
  /** Unix seconds. */
  readonly since?: number
  readonly until?: number
  readonly key?: string
  readonly model?: string
  readonly provider?: string
  readonly status?: string
  readonly code?: string
  /** The value of `x-request-id`. */
  readonly id?: string
  readonly limit?: number
  readonly wide?: boolean
  readonly json?: boolean
}

async function showRequests(admin: AdminClient, options: RequestsOptions): Promise<void> {
  const { key, json = false, id } = options
  const keys = key === undefined && json ? [] : await readKeys(admin)
  const query = toQuery(options, key === undefined ? undefined : findKey(keys, key))
  const answer = await admin.send('GET', `/admin/requests?${query}`)
  if (json) return printJson(answer)
  const page = pageSchema.parse(answer)
  const names = new Map(keys.map((each) => [each.id, each.name]))
  const isTerminal = process.stdout.isTTY === true
  const view = { style: createStyle(), isTerminal, names, width: readWidth(options) }
  if (id === undefined) return print(renderRequests(page, view))
  if (page.rows.length === 0) throw new CommandFailure(2, `no request with the id ${id} is kept`)
  await print(renderDetails(page.rows, view))
}

const day = 86_400

function toQuery(options: RequestsOptions, keyId: string | undefined): URLSearchParams {
  const { until = Math.floor(Date.now() / 1000), id, failed, limit = 20 } = options
  const { since = id === undefined ? until - day : 0 } = options
  const filters = {
    failed: failed && 'true',
    key_id: keyId,
    model: options.model,
    provider: options.provider,
    status: options.status,
    error_code: options.code,
    request_id: id,
  }
  const query = new URLSearchParams({
    since: String(since),
    until: String(until),
    limit: String(limit),
  })
  for (const [name, value] of Object.entries(filters)) if (value) query.set(name, value)
  return query
}

const keysSchema = z.looseObject({
  keys: z.array(z.looseObject({ id: z.string(), name: z.string() })),
})

type NamedKey = z.infer<typeof keysSchema>['keys'][number]

/** Resolves to all keys, deleted ones too: their requests are still kept. */
async function readKeys(admin: AdminClient): Promise<readonly NamedKey[]> {
  return keysSchema.parse(await admin.send('GET', '/admin/keys?include_deleted=true')).keys
}

/** Returns the id of the key that a text names. */
function findKey(keys: readonly NamedKey[], text: string): string {
  const named = keys.filter(({ name }) => name === text)
  const found =
    named.length > 0
      ? named
      : keys.filter(({ id }) => /^[0-9a-f]{4,}$/.test(text) && id.startsWith(text))
  const [only] = found
  if (only === undefined) throw new CommandFailure(2, `--key: no key has this id or name: ${text}`)
  if (found.length === 1) return only.id
  throw new CommandFailure(2, `--key: ${found.length} keys fit ${text}; give more digits of the id`)
}

function parseLimit(text: string): number {
  const limit = /^\d{1,4}$/.test(text) ? Number(text) : 0
  if (limit >= 1 && limit <= 1_000) return limit
  throw new InvalidArgumentError('must be a whole number from 1 to 1000')
}
