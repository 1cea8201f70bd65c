import { fileURLToPath } from 'node:url'
import { sql } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import { migrate } from 'drizzle-orm/libsql/migrator'
import { readMigrationFiles } from 'drizzle-orm/migrator'
import { StoreFault } from '../../../src/store/index.ts'

/** Brings the tables up to date, or creates them. Refuses a database that a newer gateway has changed. */
export async function migrateDatabase(
  db: LibSQLDatabase,
  migrationsFolder: string = shipped,
): Promise<void> {
  const known = readMigrationFiles({ migrationsFolder }).map(({ folderMillis }) => folderMillis)
  if (await isUpToDate(db, known)) return
  try {
    await migrate(db, { migrationsFolder })
  } catch (error) {
    // Another process may have been faster.
    if (!(await isUpToDate(db, known))) throw error
  }
}

async function isUpToDate(db: LibSQLDatabase, known: readonly number[]): Promise<boolean> {
  const tables = await db.values(
    sql`select 1 from sqlite_master where type = 'table' and name = '__drizzle_migrations'`,
  )
  if (tables.length === 0) return false
  const rows = await db.values<[number]>(sql`select created_at from __drizzle_migrations`)
  const applied = new Set(rows.map((row) => Number(row[0])))
  if ([...applied].some((at) => !known.includes(at))) {
    throw new StoreFault('the database was made by a newer version of the gateway; use that one')
  }
  return known.every((at) => applied.has(at))
}

/** Beside the bundled program of the thread, or where drizzle-kit writes them. */
const shipped = fileURLToPath(
  new URL(
    import.meta.url.endsWith('.ts') ? '../../../src/store/migrations' : './migrations',
    import.meta.url,
  ),
)
