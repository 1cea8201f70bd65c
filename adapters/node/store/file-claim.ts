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
 * The place on a database file: an exclusive transaction on an empty database beside it, which ends
 * with the process, however that ends. The file itself stays open to commands, backups and readers.
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

  /** Writes into the open database who has the place: for people, so it may fail. */
  async recordHolder(): Promise<void> {
    const { db, holder } = this.#options
    if (this.#lock) await recordHolder(db, holder).catch(() => {})
  }

  async release(): Promise<void> {
    this.#lock?.close()
    this.#lock = undefined
  }
}

/** Undefined while another gateway holds the lock. */
function openLock(database: string): Connection | undefined {
  // Whatever name a gateway knows the file by.
  const path = `${realpathSync(database)}-lock`
  // Closing any descriptor of a file frees the locks that the process has on it.
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

/** The process that holds the lock. Only read: it may be of another version. */
async function readHolder(path: string): Promise<string> {
  const connection = new Connection(path)
  const holder = await readLastHolder(drizzle({ client: toClient(connection) })).catch(
    () => undefined,
  )
  connection.close()
  return holder ?? 'another process'
}
