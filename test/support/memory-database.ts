import { readdirSync, readFileSync } from 'node:fs'
import { drizzle } from 'drizzle-orm/libsql/sqlite3'
import {
  DatabaseConnection,
  type Statement,
  toClient,
} from '../../adapters/node/store/connection.ts'
import type { ClientDatabase } from '../../src/store/database.ts'

const folder = new URL('../../src/store/migrations/', import.meta.url)

/** Opens a database in memory whose tables are those of the latest migration. */
export function openMemoryDatabase(): DatabaseConnection {
  return runScript(emptyDatabase)
}

/** Opens a database in memory with the rows of another one. */
export function copyMemoryDatabase(other: DatabaseConnection): DatabaseConnection {
  return runScript(writeScript(other))
}

/** Returns the database for the functions of `src/store`. */
export function toClientDatabase(connection: DatabaseConnection): ClientDatabase {
  const batch = async (statements: readonly Statement[]) => connection.batch(statements)
  // Drizzle calls only these methods of its client.
  const client = { ...toClient(connection), batch } as unknown as ClientDatabase['$client']
  return drizzle({ client })
}

function runScript(script: string): DatabaseConnection {
  const connection = new DatabaseConnection(':memory:')
  connection.run(script)
  connection.run('pragma foreign_keys = on')
  return connection
}

/** What creates the tables and their first rows, in a quarter of the time of the migrations. */
const emptyDatabase = migrate()

function migrate(): string {
  const connection = new DatabaseConnection(':memory:')
  for (const name of readdirSync(folder).sort()) {
    if (!name.endsWith('.sql')) continue
    const sql = readFileSync(new URL(name, folder), 'utf8')
    connection.run(sql.replaceAll('--> statement-breakpoint', ''))
  }
  const script = writeScript(connection)
  connection.close()
  return script
}

/** Writes the tables, then their rows, then the triggers, which must not see these rows. */
function writeScript(connection: DatabaseConnection): string {
  const read = (sql: string) => connection.execute({ sql, args: [] }).rows
  const made = read(`select type, name, sql from sqlite_master where name not like 'sqlite_%'`)
  const list = (isWanted: (type: unknown) => boolean) =>
    made.filter(([type]) => isWanted(type)).map(([, , sql]) => sql)
  const inserts = made.flatMap(([type, name]) => {
    const rows = type === 'table' ? read(`select * from ${name}`) : []
    return rows.map((row) => `insert into ${name} values (${row.map(toLiteral).join()})`)
  })
  const isTrigger = (type: unknown) => type === 'trigger'
  return [...list((type) => !isTrigger(type)), ...inserts, ...list(isTrigger)].join(';\n')
}

function toLiteral(value: unknown): string {
  if (value === null) return 'null'
  return typeof value === 'number' ? String(value) : `'${String(value).replaceAll("'", "''")}'`
}
