import {
  and,
  asc,
  between,
  count,
  desc,
  eq,
  getTableColumns,
  gt,
  inArray,
  lt,
  max,
  min,
  type SQL,
  sql,
} from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { joinAmount } from './money.ts'
import { writeOnce } from './once.ts'
import { usageLog, usageLogByTime } from './schema.ts'
import { spendStatements } from './spend.ts'
import type {
  FoundRequest,
  UsageFilter,
  UsageFindQuery,
  UsageGrouping,
  UsageIntervalQuery,
  UsageIntervalSum,
  UsageListQuery,
  UsageSum,
  UsageSumQuery,
  UsageText,
} from './store.ts'
import { type UsageColumnName, usageColumns } from './usage-columns.ts'
import { firstWeek, type UsageInterval } from './usage-interval.ts'

/** Appends rows and charges their cost in one transaction, so that rows and spend always agree. */
export async function addUsage(db: LibSQLDatabase, batch: UsageText): Promise<void> {
  const isEmpty = batch.first.length === 0
  await writeOnce(
    db,
    batch.id,
    isEmpty ? [] : [insertRows(db, batch), ...spendStatements(db, batch)],
  )
}

function insertRows(db: LibSQLDatabase, { first, varying, rows }: UsageText) {
  const values = first.map((value) => sql`${value}`)
  for (const [place, at] of varying.entries()) values[at] = sql.raw(`row ->> ${place}`)
  // In the order of the table. A batch has no ids: for null SQLite assigns the next one.
  const selected = Object.keys(getTableColumns(usageLog)).map(
    (name) => values[usageColumns.findIndex((column) => column.name === name)] ?? sql`null`,
  )
  // Materialized, or SQLite would serialize each row again for every column.
  return db.insert(usageLog).select(sql`
    with rows as materialized (select value as row from json_each(${rows}))
    select ${sql.join(selected, sql`, `)} from rows
  `)
}

export async function purgeUsage(
  db: LibSQLDatabase,
  before: number,
  limit: number,
): Promise<number> {
  const oldest = db
    .select({ id: usageLog.id })
    .from(usageLog)
    .where(lt(usageLog.ts, before))
    .orderBy(usageLog.ts)
    .limit(limit)
  const { rowsAffected } = await db.delete(usageLog).where(inArray(usageLog.id, oldest))
  return rowsAffected
}

/** Finds requests that have rows. Reads all rows of the window: there is no index of requests. */
export async function findUsage(
  db: LibSQLDatabase,
  { requests, since, until }: UsageFindQuery,
): Promise<FoundRequest[]> {
  const wanted = JSON.stringify(requests.map(({ requestId, keyId }) => [requestId, keyId]))
  const { requestId, keyId, errorCode, costUsd, costNano } = usageLog
  const sumLost = (column: SQLiteColumn) =>
    sql<number>`sum(iif(${errorCode} is 'LM-6002', ${column}, 0))`
  const rows = await db
    .select({ requestId, keyId, lostUsd: sumLost(costUsd), lostNano: sumLost(costNano) })
    .from(usageLog)
    .where(
      and(
        between(usageLog.ts, since, until),
        sql`(${requestId}, ${keyId}) in
          (select value ->> 0, value ->> 1 from json_each(${wanted}))`,
      ),
    )
    .groupBy(requestId, keyId)
  return rows.map(({ lostUsd, lostNano, ...request }) => ({
    ...request,
    lostCost: joinAmount(lostUsd, lostNano),
  }))
}

/** Returns rows by increasing id, each a JSON array as `parseUsageRows` reads it. */
export async function listUsage(db: LibSQLDatabase, query: UsageListQuery): Promise<string[]> {
  const span = await findSpan(db, query)
  if (!span) return []
  const rows = await db
    .select({ row: rowAsJson })
    .from(usageLog)
    .where(and(gt(usageLog.id, query.cursor), whereInSpan(span, query)))
    .orderBy(usageLog.id)
    .limit(query.limit)
    .values()
  return rows.map((row) => String(row[0]))
}

const rowAsJson = sql<string>`json_array(${sql.join(
  [usageLog.id, ...usageColumns.map(({ name }) => toJsonElement(name))],
  sql`, `,
)})`

function toJsonElement(name: UsageColumnName): SQL {
  const column = usageLog[name]
  return name === 'metadata' ? sql`json(${column})` : sql`${column}`
}

export async function sumUsage(db: LibSQLDatabase, query: UsageSumQuery): Promise<UsageSum[]> {
  const span = await findSpan(db, query)
  if (!span) return []
  const group = groupings[query.groupBy].as('grouped')
  const rows = await db
    .select({ group, ...sums })
    .from(usageLog)
    .where(and(whereInSpan(span, query), ...whereFilters(query)))
    .groupBy((selected) => selected.group)
    .orderBy(desc(sums.costUsd), desc(sums.costNano), asc(group))
    .limit(query.limit)
  return rows.map(({ costUsd, costNano, ...row }) => ({
    ...row,
    cost: joinAmount(costUsd, costNano),
  }))
}

export async function sumUsageByInterval(
  db: LibSQLDatabase,
  query: UsageIntervalQuery,
): Promise<UsageIntervalSum[]> {
  const span = await findSpan(db, query)
  if (!span) return []
  const grouping = groupings[query.groupBy]
  const group = grouping.as('grouped')
  const start = intervalStarts[query.interval].as('start')
  const { requests, tokensIn, tokensOut, costUsd, costNano } = sums
  const rows = await db
    .select({ group, start, requests, tokensIn, tokensOut, costUsd, costNano })
    .from(usageLog)
    .where(
      and(
        whereInSpan(span, query),
        ...whereFilters(query),
        sql`${grouping} in (select value from json_each(${JSON.stringify(query.groups)}))`,
      ),
    )
    .groupBy((selected) => [selected.group, selected.start])
    .orderBy((selected) => asc(selected.start))
    .limit(query.limit)
  return rows.map(({ costUsd: usd, costNano: nano, ...row }) => ({
    ...row,
    cost: joinAmount(usd, nano),
  }))
}

/** As `startOfInterval` does. No row is from before the first week. */
const intervalStarts: Readonly<Record<UsageInterval, SQL<number>>> = {
  hour: sql`${usageLog.ts} - ${usageLog.ts} % 3600`,
  day: sql`${usageLog.ts} - ${usageLog.ts} % 86400`,
  week: sql`${usageLog.ts} - (${usageLog.ts} - ${sql.raw(String(firstWeek))}) % 604800`,
  month: sql`unixepoch(${usageLog.ts}, 'unixepoch', 'start of month')`,
}

type Window = Pick<UsageFilter, 'since' | 'until'>

interface Span {
  readonly first: number
  readonly last: number
}

/**
 * Returns the range of ids that contains all rows of a window. Rows are written almost in the order
 * of their time, so scanning this range in storage order is faster than looking up each row through
 * the index on time, and a page starts without a scan wherever the window is.
 */
async function findSpan(db: LibSQLDatabase, window: Window): Promise<Span | undefined> {
  const [row] = await db
    .select({ first: min(usageLog.id), last: max(usageLog.id) })
    .from(sql`${usageLog} indexed by ${sql.identifier(usageLogByTime)}`)
    .where(between(usageLog.ts, window.since, window.until))
  const { first = null, last = null } = row ?? {}
  return first === null || last === null ? undefined : { first, last }
}

function whereInSpan({ first, last }: Span, { since, until }: Window): SQL | undefined {
  // The plus sign stops the planner from using the index on time.
  return and(between(usageLog.id, first, last), between(sql`+${usageLog.ts}`, since, until))
}

function whereFilters({ keyId, groupId, model, provider, capability, api }: UsageFilter): SQL[] {
  const columns = [
    [usageLog.keyId, keyId],
    [usageLog.groupId, groupId],
    [usageLog.model, model],
    [usageLog.provider, provider],
    [usageLog.capability, capability],
    [usageLog.api, api],
  ] as const
  return columns.flatMap(([column, value]) => (value === undefined ? [] : [eq(column, value)]))
}

const groupings: Readonly<Record<UsageGrouping, SQL<string>>> = {
  model: sql`${usageLog.model}`,
  model_used: sql`coalesce(${usageLog.modelUsed}, '')`,
  provider: sql`${usageLog.provider}`,
  capability: sql`${usageLog.capability}`,
  api: sql`${usageLog.api}`,
  key_id: sql`${usageLog.keyId}`,
  group_id: sql`coalesce(${usageLog.groupId}, '')`,
  status: sql`cast(${usageLog.status} as text)`,
  total: sql`'total'`,
}

/** Counts the rows for which the condition is true. */
const countIf = (condition: SQL) => sql<number>`sum(${condition})`

/** Sums a column: exact up to 2^53, and unlike `sum` without an error above 2^63. */
const total = (column: SQLiteColumn) => sql<number>`total(${column})`

const sums = {
  requests: count(),
  requestsOk: countIf(sql`${usageLog.status} between 200 and 299`),
  requestsClientError: countIf(sql`${usageLog.status} between 400 and 499`),
  requestsServerError: countIf(sql`${usageLog.status} between 500 and 599`),
  tokensIn: total(usageLog.tokensIn),
  tokensOut: total(usageLog.tokensOut),
  tokensTotal: total(usageLog.tokensTotal),
  estimatedRequests: countIf(sql`${usageLog.estimated}`),
  upstreamRequests: countIf(sql`not ${usageLog.estimated}`),
  searchUnits: total(usageLog.searchUnits),
  mediaCount: total(usageLog.mediaCount),
  mediaBytes: total(usageLog.mediaBytes),
  costUsd: sql<number>`sum(${usageLog.costUsd}) + sum(${usageLog.costNano}) / 1000000000`,
  costNano: sql<number>`sum(${usageLog.costNano}) % 1000000000`,
}
