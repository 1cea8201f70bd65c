import { closeSync, openSync, rmSync } from 'node:fs'
import { resolve } from 'node:path'
import { StoreFault } from '../../../src/store/index.ts'
import { DatabaseConnection } from './connection.ts'
import { toFilePath } from './file-path.ts'
import { isServerAddress } from './messages.ts'
import { requireDatabase } from './require-database.ts'
import { toStoreFault } from './store-fault.ts'

/** The absolute paths of a copied database and its copy. */
export interface DatabaseCopy {
  readonly source: string
  readonly target: string
}

/**
 * Copies a database to a new file that only this user can read. The copy is one consistent state, also
 * while a gateway writes. Throws a `StoreFault`; then there is no new file.
 */
export function copyDatabase(database: string, file: string): DatabaseCopy {
  if (isServerAddress(database)) {
    throw new StoreFault('auth.db_path is the address of a server: use the backups of that server')
  }
  const source = toFilePath(database)
  const target = resolve(file)
  requireDatabase(source)
  try {
    // `wx` fails when the file exists. SQLite writes into a file that is empty.
    closeSync(openSync(target, 'wx', 0o600))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const reason = code === 'EEXIST' ? 'exists; choose another name' : `cannot be written (${code})`
    throw new StoreFault(`${target}: ${reason}`)
  }
  try {
    const connection = new DatabaseConnection(source)
    try {
      connection.execute({ sql: 'vacuum into ?', args: [target] })
    } finally {
      connection.close()
    }
  } catch (error) {
    rmSync(target)
    throw new StoreFault(`${source}: ${toStoreFault(error).message}`)
  }
  return { source, target }
}
