import { closeSync, existsSync, openSync, realpathSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import { drizzle } from 'drizzle-orm/libsql/sqlite3'
import type { Millis } from '../../../src/core/ids.ts'
import { type Claimant, readLastHolder, recordHolder } from '../../../src/store/database.ts'
import type { Claim, OtherHolder } from './claim.ts'
import { Connection, toClient } from './connection.ts'
import { prepareFile } from './file.ts'
import { isLocked, toOpenFault } from './store-fault.ts'

export interface FileClaimOptions {
  readonly path: string
  readonly db: LibSQLDatabase
  readonly holder: Claimant
}

/**
 * The claim on a database file: a transaction on a second database beside it, which names the state that
 * its holders share. A gateway that shares nothing locks the second database exclusively; the others read
 * it. The system releases the claim however the process ends. The file itself stays open to commands,
 * backups and readers.
 */
export class FileClaim implements Claim {
  readonly #options: FileClaimOptions
  #lock: Connection | undefined

  constructor(options: FileClaimOptions) {
    this.#options = options
  }

  async take(): Promise<OtherHolder | undefined> {
    const { path, holder } = this.#options
    if (this.#lock) return undefined
    let sharing: string | null
    try {
      prepareFile(path)
      const file = createLockFile(path)
      const taken =
        holder.sharing === undefined ? lockAlone(file) : await lockTogether(file, holder.sharing)
      if (taken instanceof Connection) {
        this.#lock = taken
        return undefined
      }
      sharing = taken
    } catch (error) {
      throw toOpenFault(`the database ${path}`, error)
    }
    return { process: await readHolder(path), sharing }
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

/** Returns the path of the second database, which is the same for every path that leads to the first. */
function createLockFile(database: string): string {
  const path = `${realpathSync(database)}-lock`
  // Only for a new file: closing any descriptor of a file releases the process's locks on it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  return path
}

/** Returns the locked connection, or the state that the present holders share; null when there is none. */
function lockAlone(file: string): Connection | string | null {
  const connection = new Connection(file)
  const isLockedAlone = tryLocked(connection, () => connection.run('begin exclusive'))
  if (isLockedAlone) return connection
  const sharing = tryLocked(connection, () => readSharing(connection))
  connection.close()
  return sharing?.value ?? null
}

/** How long a process that shares its state waits for others that start at the same moment on a slow disk. */
const maxJoinMs: Millis = 5_000

/**
 * Joins the gateways that share this state, or begins such a group when there is no other gateway. Resolves
 * to the state that others share; to null when they share none.
 */
async function lockTogether(file: string, sharing: string): Promise<Connection | string | null> {
  const end = performance.now() + maxJoinMs
  for (;;) {
    const connection = new Connection(file)
    // While this read lock is held, no other process can write another name.
    const found = tryLocked(connection, () => {
      connection.run('begin')
      return readSharing(connection)
    })
    if (found?.value === sharing) return connection
    connection.close()
    if (performance.now() > end) return found?.value ?? null
    if (!tryWriteSharing(file, sharing)) await sleep(20)
  }
}

/** Names the shared state. False when another gateway holds the claim. */
function tryWriteSharing(file: string, sharing: string): boolean {
  const connection = new Connection(file)
  const written = tryLocked(connection, () => {
    connection.run('begin exclusive')
    connection.run('create table if not exists claim (sharing text); delete from claim')
    connection.execute({ sql: 'insert into claim values (?)', args: [sharing] })
    connection.run('commit')
  })
  connection.close()
  return written !== undefined
}

/** Returns the name of the shared state. Locks the file against writers while a transaction is open. */
function readSharing(connection: Connection): string | undefined {
  const query = "select name from sqlite_master where name = 'claim'"
  if (connection.execute({ sql: query, args: [] }).rows.length === 0) return undefined
  const [row] = connection.execute({ sql: 'select sharing from claim', args: [] }).rows
  return row && String(row[0])
}

/** Returns the result of `work`; undefined when it meets a lock of another process. */
function tryLocked<T>(connection: Connection, work: () => T): { readonly value: T } | undefined {
  try {
    return { value: work() }
  } catch (error) {
    if (isLocked(error)) return undefined
    connection.close()
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
