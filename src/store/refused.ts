import { inArray, lt, lte, sql } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import type { ClientDatabase } from './audit.ts'
import { writeOnce } from './once.ts'
import { prepare } from './prepared.ts'
import { type RefusedBatch, refusedKept } from './request-queries.ts'
import { refusedRequests } from './schema.ts'

/** Appends refused requests, and deletes the oldest beyond the number that is kept. */
export async function addRefused(db: ClientDatabase, { id, rows }: RefusedBatch): Promise<void> {
  const values = rows.map((row) => [
    row.ts,
    row.requestId,
    row.keyId,
    row.groupId,
    row.api,
    Number(row.stream),
    row.model,
    row.status,
    row.errorCode,
    row.failure,
    row.latencyMs,
    row.count,
  ])
  await writeOnce(db, id, [insertRows(db, { rows: JSON.stringify(values) }), deleteOldest(db, {})])
}

/** One bound text for all rows, in the order of the table. A row has no id: for null SQLite assigns the next one. */
const insertRows = prepare((db) =>
  db.insert(refusedRequests).select(
    sql`select null, value ->> 0, value ->> 1, value ->> 2, value ->> 3, value ->> 4, value ->> 5,
        value ->> 6, value ->> 7, value ->> 8, value ->> 9, value ->> 10, value ->> 11
        from json_each(${sql.placeholder('rows')})`,
  ),
)

const deleteOldest = prepare((db) =>
  db
    .delete(refusedRequests)
    .where(
      lte(
        refusedRequests.id,
        sql`(select max(${refusedRequests.id}) from ${refusedRequests}) - ${refusedKept}`,
      ),
    ),
)

export async function purgeRefused(
  db: LibSQLDatabase,
  before: number,
  limit: number,
): Promise<number> {
  const oldest = db
    .select({ id: refusedRequests.id })
    .from(refusedRequests)
    .where(lt(refusedRequests.ts, before))
    .orderBy(refusedRequests.ts)
    .limit(limit)
  const { rowsAffected } = await db
    .delete(refusedRequests)
    .where(inArray(refusedRequests.id, oldest))
  return rowsAffected
}
