import { lt, type SQL, sql } from 'drizzle-orm'
import type { BatchItem } from 'drizzle-orm/batch'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import { writtenBatches } from './schema.ts'

/**
 * Writes a batch in one transaction, at most once per id. So a batch can be sent again when its
 * outcome is unknown, for example because the connection broke before the result arrived.
 */
export async function writeOnce(
  db: LibSQLDatabase,
  id: string,
  statements: readonly BatchItem<'sqlite'>[],
): Promise<void> {
  try {
    await db.batch([
      db.insert(writtenBatches).values({ id, writtenAt: sql`unixepoch()` }),
      db
        .delete(writtenBatches)
        .where(lt(writtenBatches.writtenAt, sql`unixepoch() - ${keepSeconds}`)),
      ...statements,
    ])
  } catch (error) {
    // The first statement found the id in the table.
    if (!isConstraint(error, 0)) throw error
  }
}

/** Does the same unless the query `found` has a row. Resolves to whether the batch is written. */
export async function writeOnceUnless(
  db: LibSQLDatabase,
  { id, found }: { readonly id: string; readonly found: SQL },
  statements: readonly BatchItem<'sqlite'>[],
): Promise<boolean> {
  // The column refuses null, which takes the whole transaction back.
  const guard = db.insert(writtenBatches).select(sql`select ${id}, null where exists (${found})`)
  try {
    await writeOnce(db, id, [guard, ...statements])
    return true
  } catch (error) {
    if (!isConstraint(error, 2)) throw error
    return false
  }
}

/** How long the id of a batch is kept, in seconds. Batches are sent again within minutes. */
const keepSeconds = 7 * 86_400

/** Whether a statement of the batch has violated a constraint. */
function isConstraint(error: unknown, at: number): boolean {
  const { code, statementIndex } = error as { code?: unknown; statementIndex?: unknown }
  return statementIndex === at && String(code).startsWith('SQLITE_CONSTRAINT')
}
