import { asc, desc, eq, type SQL, sql } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import { moneyOf } from './money.ts'
import { writeOnce } from './once.ts'
import { usageLog } from './schema.ts'
import { spendStatements } from './spend.ts'
import type {
  UsageFilter,
  UsageGrouping,
  UsageListQuery,
  UsageSum,
  UsageSumQuery,
  UsageText,
} from './store.ts'
import { usageColumns } from './usage-text.ts'

/** Appends rows and charges what they cost in one transaction: sums of rows and of spend agree. */
export async function addUsage(db: LibSQLDatabase, batch: UsageText): Promise<void> {
  const { id, first, varying, rows, spend } = batch
  const values = first.map((value) => sql`${value}`)
  for (const [place, at] of varying.entries()) values[at] = sql.raw(`row ->> ${place}`)
  // Materialized, or SQLite would write each row out as text anew for every column.
  const insert = sql`
    with rows as materialized (select value as row from json_each(${rows}))
    insert into usage_log (${sql.raw(usageColumns.join(', '))})
    select ${sql.join(values, sql`, `)} from rows
  `
  await writeOnce(db, id, first.length > 0 ? [db.run(insert), ...spendStatements(db, spend)] : [])
}

export async function purgeUsage(
  db: LibSQLDatabase,
  before: number,
  limit: number,
): Promise<number> {
  const { rowsAffected } = await db.run(sql`
    delete from usage_log where id in (
      select id from usage_log where ts < ${before} order by ts limit ${limit}
    )
  `)
  return rowsAffected
}

/** JSON arrays, by increasing id: each a row as `usageRows` reads it. */
export async function listUsage(db: LibSQLDatabase, query: UsageListQuery): Promise<string[]> {
  const span = await spanOf(db, query)
  if (!span) return []
  const columns = usageColumns.map((name) => (name === 'metadata' ? 'json(metadata)' : name))
  const rows = await db.values<[string]>(sql`
    select json_array(id, ${sql.raw(columns.join(', '))}) from usage_log
    where id > ${query.cursor} and ${inSpan(span, query)}
    order by id limit ${query.limit}
  `)
  return rows.map((row) => row[0])
}

export async function sumUsage(db: LibSQLDatabase, query: UsageSumQuery): Promise<UsageSum[]> {
  const span = await spanOf(db, query)
  if (!span) return []
  const group = groupings[query.groupBy]
  const rows = await db
    .select({ group: sql<string>`${group}`.as('grouped'), ...sums })
    .from(usageLog)
    .where(sql.join([inSpan(span, query), ...filters(query)], sql` and `))
    .groupBy(sql`grouped`)
    .orderBy(desc(sums.costUsd), desc(sums.costNano), asc(sql`grouped`))
    .limit(query.limit)
  return rows.map(({ costUsd, costNano, ...row }) => ({ ...row, cost: moneyOf(costUsd, costNano) }))
}

type Window = Pick<UsageFilter, 'since' | 'until'>

interface Span {
  readonly first: number
  readonly last: number
}

/**
 * The ids between which all rows of a window lie. Rows are written nearly in the order of their time,
 * so reading them from one end of this to the other, in the order they are stored, is faster than
 * looking each up through the index on time; and a page begins at once, wherever the window is.
 */
async function spanOf(db: LibSQLDatabase, { since, until }: Window): Promise<Span | undefined> {
  const [row] = await db.values<[number | null, number | null]>(sql`
    select min(id), max(id) from usage_log indexed by usage_log_ts
    where ts between ${since} and ${until}
  `)
  // The driver's rows have indices but cannot be iterated over.
  const first = row?.[0] ?? null
  const last = row?.[1] ?? null
  return first === null || last === null ? undefined : { first, last }
}

function inSpan({ first, last }: Span, { since, until }: Window): SQL {
  // The plus sign keeps the planner from the index on time.
  return sql`id between ${first} and ${last} and +ts between ${since} and ${until}`
}

function filters({ keyId, groupId, model, provider, capability }: UsageFilter): SQL[] {
  const columns = [
    [usageLog.keyId, keyId],
    [usageLog.groupId, groupId],
    [usageLog.model, model],
    [usageLog.provider, provider],
    [usageLog.capability, capability],
  ] as const
  return columns.flatMap(([column, value]) => (value === undefined ? [] : [eq(column, value)]))
}

const groupings: Readonly<Record<UsageGrouping, SQL>> = {
  model: sql`model`,
  model_used: sql`coalesce(model_used, '')`,
  provider: sql`provider`,
  capability: sql`capability`,
  key_id: sql`key_id`,
  group_id: sql`coalesce(group_id, '')`,
  status: sql`cast(status as text)`,
  total: sql`'total'`,
}

/** `total` of whole numbers is exact up to 2^53, and unlike `sum` it does not fail past 2^63. */
const sums = {
  requests: sql<number>`count(*)`,
  requestsOk: sql<number>`sum(status between 200 and 299)`,
  requestsClientError: sql<number>`sum(status between 400 and 499)`,
  requestsServerError: sql<number>`sum(status between 500 and 599)`,
  tokensIn: sql<number>`total(tokens_in)`,
  tokensOut: sql<number>`total(tokens_out)`,
  tokensTotal: sql<number>`total(tokens_total)`,
  estimatedRequests: sql<number>`sum(estimated)`,
  upstreamRequests: sql<number>`sum(not estimated)`,
  searchUnits: sql<number>`total(search_units)`,
  mediaCount: sql<number>`total(media_count)`,
  mediaBytes: sql<number>`total(media_bytes)`,
  costUsd: sql<number>`sum(cost_usd) + sum(cost_nano) / 1000000000`,
  costNano: sql<number>`sum(cost_nano) % 1000000000`,
}
