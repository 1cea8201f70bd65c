import type { Client, InStatement, ResultSet } from '@libsql/client'
import { and, between, eq, gt, inArray, lt, type SQL, sql } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import { drizzle } from 'drizzle-orm/libsql/sqlite3'
import type { AuditEntry } from '../core/audit.ts'
import { auditLog } from './schema.ts'
import type { AuditQuery, AuditRow } from './store.ts'

/** A database whose client is known, as `drizzle` returns it. */
export type ClientDatabase = LibSQLDatabase & { readonly $client: Client }

/**
 * Returns the database with an audit row in the transaction of each write: a statement or a batch
 * whose last change affects a row adds the entry, any other adds nothing.
 */
export function withAuditRow(db: ClientDatabase, entry: AuditEntry): ClientDatabase {
  const { sql: text, params } = insertEntry(db, entry).toSQL()
  // Drizzle binds text, numbers and null.
  const audit = { sql: text, args: params } as InStatement
  const batch = async (statements: InStatement[]): Promise<ResultSet[]> => {
    const results = await db.$client.batch([...statements, audit])
    return results.slice(0, -1)
  }
  const execute = async (statement: InStatement) => (await batch([statement]))[0]
  // Drizzle calls only these two methods of its client.
  return drizzle({ client: { execute, batch } as unknown as Client })
}

function insertEntry(db: LibSQLDatabase, entry: AuditEntry) {
  const { ts, action, subjectId, requestId, client } = entry
  const values = [null, ts, action, subjectId, requestId, client].map((value) => sql`${value}`)
  // A query in between does not reset `changes()`.
  return db.insert(auditLog).select(sql`select ${sql.join(values, sql`, `)} where changes() > 0`)
}

export async function addAudit(db: LibSQLDatabase, entry: AuditEntry): Promise<void> {
  const { ts, action, subjectId, requestId, client } = entry
  await db.insert(auditLog).values({ ts, action, subjectId, requestId, client })
}

export async function purgeAudit(
  db: LibSQLDatabase,
  before: number,
  limit: number,
): Promise<number> {
  const oldest = db
    .select({ id: auditLog.id })
    .from(auditLog)
    .where(lt(auditLog.ts, before))
    .orderBy(auditLog.ts)
    .limit(limit)
  const { rowsAffected } = await db.delete(auditLog).where(inArray(auditLog.id, oldest))
  return rowsAffected
}

export async function listAudit(db: LibSQLDatabase, query: AuditQuery): Promise<AuditRow[]> {
  const { since, until, cursor, action, subjectId } = query
  const filters: SQL[] = []
  if (action !== undefined) filters.push(eq(auditLog.action, action))
  if (subjectId !== undefined) filters.push(eq(auditLog.subjectId, subjectId))
  const rows = await db
    .select()
    .from(auditLog)
    .where(and(gt(auditLog.id, cursor), between(auditLog.ts, since, until), ...filters))
    .orderBy(auditLog.id)
    .limit(query.limit)
  // Only such actions are inserted.
  return rows.map((row) => ({ ...row, action: row.action as AuditRow['action'] }))
}
