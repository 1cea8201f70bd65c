import { and, asc, desc, eq, gt, inArray, lt, lte, max, type SQL, sql } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Api } from '../core/capability.ts'
import type { NanoUsd } from '../core/ids.ts'
import { joinAmount } from './money.ts'
import type {
  RequestFilter,
  RequestListQuery,
  RequestPage,
  RequestPosition,
  RequestRow,
} from './request-queries.ts'
import { refusedRequests, usageLog, usageLogFailed } from './schema.ts'
import { findSpan, whereInSpan } from './usage-span.ts'

/** Lists the rows of the usage log and the refused requests together, page by page. */
export async function listRequests(
  db: LibSQLDatabase,
  query: RequestListQuery,
): Promise<RequestPage> {
  // Before the rows: what is written meanwhile is in no page of older rows, and in the next one of newer rows.
  const newest = await readNewest(db)
  const isOlder = query.direction === 'older'
  const start = query.position ?? (isOlder ? follow(newest) : origin)
  const usage = await listUsageRows(db, query, { start: start.usage, newest: newest.usage })
  const refused = await listRefusedRows(db, query, { start: start.refused, newest: newest.refused })
  const isBefore = (a: RequestRow, b: RequestRow) => (isOlder ? a.ts > b.ts : a.ts <= b.ts)
  const rows = mergeRows(usage, refused, isBefore).slice(0, query.limit)
  const isLast = rows.length < query.limit
  const end = isLast ? (isOlder ? origin : newest) : findEnd(rows, start)
  return { rows, end, newest, isLast }
}

const origin: RequestPosition = Object.freeze({ usage: 0, refused: 0 })

/** The position from which the older rows are these and all before. */
function follow({ usage, refused }: RequestPosition): RequestPosition {
  return { usage: usage + 1, refused: refused + 1 }
}

async function readNewest(db: LibSQLDatabase): Promise<RequestPosition> {
  const [usage] = await db.select({ id: max(usageLog.id) }).from(usageLog)
  const [refused] = await db.select({ id: max(refusedRequests.id) }).from(refusedRequests)
  return { usage: usage?.id ?? 0, refused: refused?.id ?? 0 }
}

/** Merges two lists by time. Each keeps its own order, so that a page ends behind all that it holds. */
function mergeRows(
  a: readonly RequestRow[],
  b: readonly RequestRow[],
  isBefore: (a: RequestRow, b: RequestRow) => boolean,
): RequestRow[] {
  const merged: RequestRow[] = []
  let at = 0
  for (const row of a) {
    for (let other = b[at]; other && !isBefore(row, other); other = b[at]) {
      merged.push(other)
      at++
    }
    merged.push(row)
  }
  return [...merged, ...b.slice(at)]
}

/** The position behind the last row of each table. */
function findEnd(rows: readonly RequestRow[], start: RequestPosition): RequestPosition {
  const last = (log: RequestRow['log']) => rows.findLast((row) => row.log === log)?.id
  return { usage: last('usage') ?? start.usage, refused: last('refused') ?? start.refused }
}

/** The ids of one table between which a page is. */
interface Bounds {
  readonly start: number
  readonly newest: number
}

function whereInBounds(
  id: SQLiteColumn,
  { direction }: RequestListQuery,
  { start, newest }: Bounds,
): SQL | undefined {
  return direction === 'older' ? lt(id, start) : and(gt(id, start), lte(id, newest))
}

async function listUsageRows(
  db: LibSQLDatabase,
  query: RequestListQuery,
  bounds: Bounds,
): Promise<RequestRow[]> {
  const { window, direction, limit, statuses } = query
  const onlyFailed = statuses !== undefined && statuses.from >= 400
  // Newer rows are few, and failed ones have an index.
  const needsSpan = window !== undefined && direction === 'older' && !onlyFailed
  const span = needsSpan ? await findSpan(db, window) : undefined
  if (needsSpan && !span) return []
  const wanted = and(
    whereInBounds(usageLog.id, query, bounds),
    span && window ? whereInSpan(span, window) : whereInWindow(usageLog.ts, window),
    ...whereRequests(usageLog, query),
  )
  const order = (direction === 'older' ? desc : asc)(usageLog.id)
  // As the index says it, or SQLite would not use that.
  const failed = db
    .select({ id: sql<number>`${usageLog.id}`.as('failed_id') })
    .from(sql`${usageLog} indexed by ${sql.identifier(usageLogFailed)}`)
    .where(and(sql`${usageLog.status} >= 400`, wanted))
    .orderBy(order)
    .limit(limit)
  const rows = await db
    .select(usageMembers)
    .from(usageLog)
    .where(onlyFailed ? inArray(usageLog.id, failed) : wanted)
    .orderBy(order)
    .limit(limit)
  return rows.map(({ costUsd, costNano, ...row }) => ({
    ...row,
    log: 'usage',
    // Only such values are inserted.
    api: row.api as Api,
    cacheHit: row.cacheHit === 1,
    cost: joinAmount(costUsd, costNano),
    count: 1,
  }))
}

const usageMembers = {
  id: usageLog.id,
  ts: usageLog.ts,
  requestId: usageLog.requestId,
  keyId: usageLog.keyId,
  groupId: usageLog.groupId,
  api: usageLog.api,
  stream: usageLog.stream,
  model: usageLog.model,
  modelUsed: usageLog.modelUsed,
  provider: usageLog.provider,
  status: usageLog.status,
  errorCode: usageLog.errorCode,
  failure: usageLog.failure,
  latencyMs: usageLog.latencyMs,
  ttftMs: usageLog.ttftMs,
  queuedMs: usageLog.queuedMs,
  tokensIn: usageLog.tokensIn,
  tokensOut: usageLog.tokensOut,
  estimated: usageLog.estimated,
  costUsd: usageLog.costUsd,
  costNano: usageLog.costNano,
  cacheHit: usageLog.cacheHit,
  attempts: usageLog.attempts,
}

async function listRefusedRows(
  db: LibSQLDatabase,
  query: RequestListQuery,
  bounds: Bounds,
): Promise<RequestRow[]> {
  // No provider was called.
  if (query.provider !== undefined) return []
  const order = query.direction === 'older' ? desc : asc
  const rows = await db
    .select()
    .from(refusedRequests)
    .where(
      and(
        whereInBounds(refusedRequests.id, query, bounds),
        whereInWindow(refusedRequests.ts, query.window),
        ...whereRequests(refusedRequests, query),
      ),
    )
    .orderBy(order(refusedRequests.id))
    .limit(query.limit)
  // Only such APIs are inserted.
  return rows.map((row) => ({ ...row, ...nothingUsed, log: 'refused', api: row.api as Api }))
}

const nothingUsed = {
  modelUsed: null,
  provider: null,
  ttftMs: null,
  queuedMs: null,
  tokensIn: 0,
  tokensOut: 0,
  estimated: false,
  cost: 0n as NanoUsd,
  cacheHit: false,
  attempts: 0,
}

function whereInWindow(ts: SQLiteColumn, window: RequestListQuery['window']): SQL | undefined {
  // The plus sign stops the planner from using the index on time: pages are in the order of the ids.
  return window && sql`+${ts} between ${window.since} and ${window.until}`
}

/** Returns the conditions of a filter on a table of requests. */
export function whereRequests(
  table: typeof usageLog | typeof refusedRequests,
  { requestId, keyId, groupId, model, provider, errorCode, statuses }: RequestFilter,
): SQL[] {
  const columns = [
    [table.requestId, requestId],
    [table.keyId, keyId],
    [table.groupId, groupId],
    [table.model, model],
    [table.errorCode, errorCode],
    ['provider' in table ? table.provider : undefined, provider],
  ] as const
  const equal = columns.flatMap(([column, value]) =>
    column === undefined || value === undefined ? [] : [eq(column, value)],
  )
  if (!statuses) return equal
  return [...equal, sql`${table.status} between ${statuses.from} and ${statuses.to}`]
}
