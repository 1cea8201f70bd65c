import { statSync } from 'node:fs'
import { databaseMissing, StoreFault } from '../../../src/store/index.ts'
import { DatabaseConnection } from './connection.ts'
import { requireContent } from './file-path.ts'
import { hasMigrationsTable } from './migrations.ts'

/**
 * Throws a `StoreFault` with the code `DATABASE_MISSING` unless the file is the database of a gateway. Leaves no
 * file behind. What cannot be read passes, since opening it says why.
 */
export function requireDatabase(path: string): void {
  requireContent(path)
  if (isOther(path)) throw new StoreFault(`not a database of the gateway: ${path}`, databaseMissing)
}

/** Whether the file is a readable database that no gateway has used. */
function isOther(path: string): boolean {
  if (statSync(path).isDirectory()) return false
  const connection = new DatabaseConnection(path)
  try {
    return !hasMigrationsTable(connection)
  } catch {
    return false
  } finally {
    connection.close()
  }
}
