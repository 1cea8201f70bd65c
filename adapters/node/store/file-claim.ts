import { closeSync, existsSync, openSync, realpathSync } from 'node:fs'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import { drizzle } from 'drizzle-orm/libsql/sqlite3'
import { type Holder, readLastHolder, recordHolder } from '../../../src/store/database.ts'
import type { Claim } from './claim.ts'
import { Connection, toClient } from './connection.ts'
import { prepareFile } from './file.ts'
import { isLocked, toOpenFault } from './store-fault.ts'

export interface FileClaimOptions {
  readonly path: string
  readonly db: LibSQLDatabase
  readonly holder: Holder
}

/**
 * The claim on a database file: an exclusive transaction on an empty database beside it. The system
 * releases it however the process ends. The file itself stays open to commands, backups and
 * readers.
 */
export class FileClaim implements Claim {
  readonly #options: FileClaimOptions
  #lock: Connection | undefined

  constructor(options: FileClaimOptions) {
    this.#options = options
  }

  async take(): Promise<string | undefined> {
    const { path } = this.#options
    try {
      prepareFile(path)
      this.#lock ??= openLock(path)
    } catch (error) {
      throw toOpenFault(`the database ${path}`, error)
    }
    return this.#lock ? undefined : readHolder(path)
  }

  /** Records this process in the open database, for messages only; a failure is ignored. */
  async recordHolder(): Promise<void> {
    const { db, holder } = this.#options
    if (this.#lock) await recordHolder(db, holder).catch(() => {})
  }

  async release(): Promise<void> {
    this.#lock?.close()
    this.#lock = undefined
  }
}

/** Returns the locked connection; undefined while another gateway holds the lock. */
function openLock(database: string): Connection | undefined {
  // The same lock for every path that leads to the file.
  const path = `${realpathSync(database)}-lock`
  // Only for a new file: closing any descriptor of a file releases the process's locks on it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  const connection = new Connection(path)
  try {
    connection.run('begin exclusive')
    return connection
  } catch (error) {
    connection.close()
    if (isLocked(error)) return undefined
    throw error
  }
}

/** Describes the process that holds the lock. Only reads: it may be of another version. */
async function readHolder(path: string): Promise<string> {
  const connection = new Connection(path)
  const holder = await readLastHolder(drizzle({ client: toClient(connection) })).catch(
    () => undefined,
  )
  connection.close()
  return holder ?? 'another process'
}
