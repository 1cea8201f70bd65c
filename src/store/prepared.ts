import type { InStatement, InValue } from '@libsql/client'
import { fillPlaceholders, type Query } from 'drizzle-orm'
import type { ClientDatabase } from './audit.ts'

/** Returns a statement for a database; `values`: what its placeholders mean, by their names. */
export type PreparedStatement = (
  db: ClientDatabase,
  values: Readonly<Record<string, unknown>>,
) => InStatement

/**
 * Prepares a statement that runs for every batch of rows. Its text is built once, on first use: Drizzle takes
 * longer to build it than SQLite to run it.
 */
export function prepare(
  build: (db: ClientDatabase) => { readonly toSQL: () => Query },
): PreparedStatement {
  let query: Query | undefined
  return (db, values) => {
    query ??= build(db).toSQL()
    // Drizzle binds text, numbers and null.
    const args = fillPlaceholders(query.params, values) as InValue[]
    return { sql: query.sql, args }
  }
}
