import { fileURLToPath } from 'node:url'
import { and, eq, getTableName } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import { migrate } from 'drizzle-orm/libsql/migrator'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { numeric, sqliteTable, text } from 'drizzle-orm/sqlite-core'
import { StoreFault } from '../../../src/store/index.ts'
import type { DatabaseConnection } from './connection.ts'

/**
 * Creates or migrates the tables. Rejects with a `StoreFault` when a newer gateway has changed
 * them.
 */
export async function migrateDatabase(
  db: LibSQLDatabase,
  migrationsFolder: string = shipped,
): Promise<void> {
  const known = readMigrationFiles({ migrationsFolder }).map(({ folderMillis }) => folderMillis)
  if (await isUpToDate(db, known)) return
  try {
    await migrate(db, { migrationsFolder })
  } catch (error) {
    // Another process may have migrated it at the same time.
    if (!(await isUpToDate(db, known))) throw error
  }
}

/** SQLite's table of tables. */
const tables = sqliteTable('sqlite_master', { type: text(), name: text() })

/** Drizzle's table of the applied migrations, by their time. */
const migrations = sqliteTable('__drizzle_migrations', {
  createdAt: numeric('created_at', { mode: 'number' }),
})

/** Whether a gateway has created or migrated the tables of this database. */
export function hasMigrationsTable(connection: DatabaseConnection): boolean {
  const sql = "select 1 from sqlite_master where type = 'table' and name = ?"
  return connection.execute({ sql, args: [getTableName(migrations)] }).rows.length > 0
}

async function isUpToDate(db: LibSQLDatabase, known: readonly number[]): Promise<boolean> {
  const [table] = await db
    .select()
    .from(tables)
    .where(and(eq(tables.type, 'table'), eq(tables.name, getTableName(migrations))))
  if (!table) return false
  const rows = await db.select().from(migrations)
  const applied = new Set(rows.map(({ createdAt }) => createdAt))
  if (rows.some(({ createdAt }) => createdAt === null || !known.includes(createdAt))) {
    throw new StoreFault(
      'the database was created by a newer version of the gateway; use that version',
    )
  }
  return known.every((at) => applied.has(at))
}

/** Beside the thread's bundle, or in the source where drizzle-kit writes them. */
const shipped = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? '../../../src/store/migrations' : './migrations',
    import.meta.url,
  ),
)
