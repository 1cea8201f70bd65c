import { lt, sql } from 'drizzle-orm'
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
    if (!isAlreadyWritten(error)) throw error
  }
}

/** How long the id of a batch is kept, in seconds. Batches are sent again within minutes. */
const keepSeconds = 7 * 86_400

/** Whether the first statement, which inserts the id, found it in the table. */
function isAlreadyWritten(error: unknown): boolean {
  const { code, statementIndex } = error as { code?: unknown; statementIndex?: unknown }
  return statementIndex === 0 && String(code).startsWith('SQLITE_CONSTRAINT')
}
