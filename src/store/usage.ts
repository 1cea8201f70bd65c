import type { InStatement } from '@libsql/client'
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
  type SQL,
  sql,
} from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { ClientDatabase } from './audit.ts'
import { joinAmount } from './money.ts'
import { writeOnce, writeOnceUnless } from './once.ts'
import { type PreparedStatement, prepare } from './prepared.ts'
import { whereRequests } from './request-list.ts'
import { prices, usageLog } from './schema.ts'
import { spendStatements } from './spend.ts'
import { type UsageColumnName, usageColumns } from './usage-columns.ts'
import { firstWeek, type UsageInterval } from './usage-interval.ts'
import type {
  LostCharge,
  LostLookup,
  RepricedRow,
  UsageFilter,
  UsageFindings,
  UsageFindQuery,
  UsageGrouping,
  UsageIntervalQuery,
  UsageIntervalSum,
  UsageListQuery,
  UsageSum,
  UsageSumQuery,
  UsageText,
} from './usage-queries.ts'
import { findSpan, whereInSpan } from './usage-span.ts'

/** Appends rows and charges their cost in one transaction, so that rows and spend always agree. */
export async function addUsage(
  db: ClientDatabase,
  batch: UsageText,
): Promise<readonly LostCharge[]> {
  await writeOnce(db, batch.id, usageStatements(db, batch))
  return batch.process === undefined ? [] : findLost(db, batch)
}

/** Appends the row of a lost request, unless that has got a row since the lookup. */
export function addLostUsage(
  db: ClientDatabase,
  batch: UsageText,
  { requestId, keyId, last }: LostLookup,
): Promise<boolean> {
  const found = sql`select 1 from ${usageLog} where ${usageLog.id} > ${last}
    and ${usageLog.requestId} = ${requestId} and ${usageLog.keyId} = ${keyId}`
  return writeOnceUnless(db, { id: batch.id, found }, usageStatements(db, batch))
}

function usageStatements(db: ClientDatabase, batch: UsageText): readonly InStatement[] {
  const { first, varying, rows } = batch
  if (first.length === 0) return []
  const values = usageColumns.map(({ name }, at) => [name, first[at]])
  const insert = insertion(varying)(db, { ...Object.fromEntries(values), rows })
  const named = batch.prices === '[]' ? [] : [addPrices(db, { prices: batch.prices })]
  return [...named, insert, ...spendStatements(db, batch)]
}

const addPrices = prepare((db) =>
  db
    .insert(prices)
    .select(
      sql`select value ->> 0, value ->> 1 from json_each(${sql.placeholder('prices')}) where true`,
    )
    .onConflictDoNothing(),
)

/** Reads the texts of prices, by their ids. Those that are not known are left out. */
export async function readPrices(
  db: LibSQLDatabase,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const wanted = sql`(select value from json_each(${JSON.stringify(ids)}))`
  const rows = await db.select().from(prices).where(inArray(prices.id, wanted))
  return new Map(rows.map((row) => [row.id, row.prices]))
}

/** Keeps in rows what they cost at later prices. What they were charged stays as it is. */
export async function writeRepriced(
  db: LibSQLDatabase,
  rows: readonly RepricedRow[],
): Promise<void> {
  const costs = JSON.stringify(rows.map(({ id, cost }) => [id, String(cost)]))
  const repriced = db
    .select({
      id: sql<number>`value ->> 0`.as('repriced_id'),
      cost: sql<string>`value ->> 1`.as('repriced_cost'),
    })
    .from(sql`json_each(${costs})`)
    .as('repriced')
  await db
    .update(usageLog)
    .set({ bill: sql`json_set(coalesce(${usageLog.bill}, '{}'), '$.repriced', ${repriced.cost})` })
    .from(repriced)
    .where(eq(usageLog.id, repriced.id))
}

/** The statements that insert the rows of a batch, by the columns that vary. */
const insertions = new Map<string, PreparedStatement>()
const maxInsertions = 20

function insertion(varying: UsageText['varying']): PreparedStatement {
  const key = varying.join()
  const known = insertions.get(key)
  if (known) return known
  const first = usageColumns.map(({ name }) => sql.placeholder(name))
  const columns = { first, varying, rows: sql.placeholder('rows') }
  // In the order of the table. A batch has no ids: for null SQLite assigns the next one.
  const names = Object.keys(getTableColumns(usageLog))
  const prepared = prepare((db) => db.insert(usageLog).select(selectColumns(columns, names)))
  if (insertions.size === maxInsertions) insertions.clear()
  insertions.set(key, prepared)
  return prepared
}

/** A batch, or placeholders for its values. */
interface ColumnSource extends Pick<UsageText, 'varying'> {
  readonly first: readonly unknown[]
  readonly rows: unknown
}

/** Returns a query for columns of the rows; null for a column that rows do not have. */
function selectColumns({ first, varying, rows }: ColumnSource, names: readonly string[]): SQL {
  const values = first.map((value) => sql`${value}`)
  for (const [place, at] of varying.entries()) values[at] = sql.raw(`row ->> ${place}`)
  const selected = names.map(
    (name) => values[usageColumns.findIndex((column) => column.name === name)] ?? sql`null`,
  )
  // Materialized, or SQLite would serialize each row again for every column.
  return sql`
    with rows as materialized (select value as row from json_each(${rows}))
    select ${sql.join(selected, sql`, `)} from rows
  `
}

/** Finds what is charged for lost requests among those of a batch. */
async function findLost(db: LibSQLDatabase, batch: UsageText): Promise<LostCharge[]> {
  const { requestId, keyId, costUsd, costNano, id } = usageLog
  const requests = selectColumns(batch, ['requestId', 'keyId'])
  const rows = await db
    .select({
      requestId,
      keyId,
      usd: sql<number>`sum(${costUsd})`,
      nano: sql<number>`sum(${costNano})`,
      row: sql<number>`max(${id})`,
    })
    .from(usageLog)
    .where(and(hasLostCode, sql`(${requestId}, ${keyId}) in (${requests})`))
    .groupBy(requestId, keyId)
  return rows.flatMap(({ usd, nano, ...found }) => {
    const cost = joinAmount(usd, nano)
    return cost > 0n ? [{ ...found, cost }] : []
  })
}

/** As the index of lost requests says it, or SQLite would not use that. */
const hasLostCode = sql`${usageLog.errorCode} = 'LM-6002'`

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
): Promise<UsageFindings> {
  const wanted = JSON.stringify(requests.map(({ requestId, keyId }) => [requestId, keyId]))
  const { id, requestId, keyId, errorCode } = usageLog
  // Before the search, so that no row is in neither.
  const [latest] = await db.select({ id: max(id) }).from(usageLog)
  const rows = await db
    .select({ requestId, keyId, isLost: sql<number>`min(${errorCode} is 'LM-6002')` })
    .from(usageLog)
    .where(
      and(
        between(usageLog.ts, since, until),
        sql`(${requestId}, ${keyId}) in
          (select value ->> 0, value ->> 1 from json_each(${wanted}))`,
      ),
    )
    .groupBy(requestId, keyId)
  return {
    last: latest?.id ?? 0,
    requests: rows.map(({ isLost, ...request }) => ({ ...request, isLost: isLost === 1 })),
  }
}

/** Returns rows by increasing id, each a JSON array as `parseUsageRows` reads it. */
export async function listUsage(db: LibSQLDatabase, query: UsageListQuery): Promise<string[]> {
  const span = await findSpan(db, query)
  if (!span) return []
  const rows = await db
    .select({ row: rowAsJson })
    .from(usageLog)
    .where(
      and(
        gt(usageLog.id, query.cursor),
        whereInSpan(span, query),
        ...whereRequests(usageLog, query),
      ),
    )
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
  return name === 'metadata' || name === 'toolCalls' ? sql`json(${column})` : sql`${column}`
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
  const { requests, tokensIn, tokensOut, cachedTokens, costUsd, costNano } = sums
  const rows = await db
    .select({ group, start, requests, tokensIn, tokensOut, cachedTokens, costUsd, costNano })
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
  tier: sql`coalesce(${usageLog.tier}, '')`,
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
  cachedTokens: total(usageLog.cachedTokens),
  estimatedRequests: countIf(sql`${usageLog.estimated}`),
  upstreamRequests: countIf(sql`not ${usageLog.estimated}`),
  searchUnits: total(usageLog.searchUnits),
  mediaCount: total(usageLog.mediaCount),
  mediaBytes: total(usageLog.mediaBytes),
  costUsd: sql<number>`sum(${usageLog.costUsd}) + sum(${usageLog.costNano}) / 1000000000`,
  costNano: sql<number>`sum(${usageLog.costNano}) % 1000000000`,
  lastAt: sql<number>`max(${usageLog.ts})`,
}
