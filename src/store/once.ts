import { lt, sql } from 'drizzle-orm'
import type { BatchItem } from 'drizzle-orm/batch'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import { writtenBatches } from './schema.ts'

/**
 * Writes a batch in one transaction, and never again under the same id. So a batch can be sent once
 * more when nobody knows whether it was written: the connection broke before the answer came.
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

/** Seconds that the id of a batch is kept for. Whoever sends again does so within minutes. */
const keepSeconds = 7 * 86_400

/** The first statement, which puts the id down, found it there. */
function isAlreadyWritten(error: unknown): boolean {
  const { code, statementIndex } = error as { code?: unknown; statementIndex?: unknown }
  return statementIndex === 0 && String(code).startsWith('SQLITE_CONSTRAINT')
}
