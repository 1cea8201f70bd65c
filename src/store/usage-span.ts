import { and, between, max, min, type SQL, sql } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import { usageLog, usageLogByTime } from './schema.ts'
import type { UsageFilter } from './usage-queries.ts'

type Window = Pick<UsageFilter, 'since' | 'until'>

export interface IdRange {
  readonly first: number
  readonly last: number
}

/**
 * Returns the range of ids that contains all rows of a window. Rows are written almost in the order
 * of their time, so scanning this range in storage order is faster than looking up each row through
 * the index on time, and a page starts without a scan wherever the window is.
 */
export async function findSpan(db: LibSQLDatabase, window: Window): Promise<IdRange | undefined> {
  const [row] = await db
    .select({ first: min(usageLog.id), last: max(usageLog.id) })
    .from(sql`${usageLog} indexed by ${sql.identifier(usageLogByTime)}`)
    .where(between(usageLog.ts, window.since, window.until))
  const { first = null, last = null } = row ?? {}
  return first === null || last === null ? undefined : { first, last }
}

export function whereInSpan({ first, last }: IdRange, { since, until }: Window): SQL | undefined {
  // The plus sign stops the planner from using the index on time.
  return and(between(usageLog.id, first, last), between(sql`+${usageLog.ts}`, since, until))
}
