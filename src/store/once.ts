import type { InStatement } from '@libsql/client'
import { lt, type SQL, sql } from 'drizzle-orm'
import type { ClientDatabase } from './audit.ts'
import { prepare } from './prepared.ts'
import { writtenBatches } from './schema.ts'

/**
 * Writes a batch in one transaction, at most once per id. So a batch can be sent again when its
 * outcome is unknown, for example because the connection broke before the result arrived.
 */
export async function writeOnce(
  db: ClientDatabase,
  id: string,
  statements: readonly InStatement[],
): Promise<void> {
  try {
    await db.$client.batch([addBatch(db, { id }), removeOldBatches(db, {}), ...statements])
  } catch (error) {
    // The first statement found the id in the table.
    if (!isConstraint(error, 0)) throw error
  }
}

/** Does the same unless the query `found` has a row. Resolves to whether the batch is written. */
export async function writeOnceUnless(
  db: ClientDatabase,
  { id, found }: { readonly id: string; readonly found: SQL },
  statements: readonly InStatement[],
): Promise<boolean> {
  // The column refuses null, which takes the whole transaction back.
  const guard = prepare((builder) =>
    builder.insert(writtenBatches).select(sql`select ${id}, null where exists (${found})`),
  )
  try {
    await writeOnce(db, id, [guard(db, {}), ...statements])
    return true
  } catch (error) {
    if (!isConstraint(error, 2)) throw error
    return false
  }
}

const addBatch = prepare((db) =>
  db.insert(writtenBatches).values({ id: sql.placeholder('id'), writtenAt: sql`unixepoch()` }),
)

/** How long the id of a batch is kept, in seconds. Batches are sent again within minutes. */
const keepSeconds = 7 * 86_400

const removeOldBatches = prepare((db) =>
  db.delete(writtenBatches).where(lt(writtenBatches.writtenAt, sql`unixepoch() - ${keepSeconds}`)),
)

/** Whether a statement of the batch has violated a constraint. */
function isConstraint(error: unknown, at: number): boolean {
  const { code, statementIndex } = error as { code?: unknown; statementIndex?: unknown }
  return statementIndex === at && String(code).startsWith('SQLITE_CONSTRAINT')
}
