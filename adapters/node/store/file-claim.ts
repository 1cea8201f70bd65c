import { randomUUID } from 'node:crypto'
import { closeSync, existsSync, openSync, realpathSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import { drizzle } from 'drizzle-orm/libsql/sqlite3'
import type { Millis } from '../../../src/core/ids.ts'
import {
  type Holder,
  isOwnState,
  type OwnState,
  readHeldState,
  readLastHolder,
  recordHolder,
  writeHeldState,
} from '../../../src/store/database.ts'
import type { Claim, OtherHolder, TakenClaim } from './claim.ts'
import { DatabaseConnection, toClient } from './connection.ts'
import { prepareFile } from './file.ts'
import { isLocked, toOpenFault } from './store-fault.ts'

export interface FileClaimOptions {
  readonly path: string
  readonly db: LibSQLDatabase
  readonly holder: Holder
  /** The state that this process shares; undefined when it shares none. */
  readonly state: OwnState | undefined
}

/**
 * The claim on a database file: a transaction on a second database beside it, which names the state that
 * its holders share. A gateway that shares nothing locks the second database exclusively; the others read
 * it. The system releases the claim however the process ends. The file itself stays open to commands,
 * backups and readers.
 */
export class FileClaim implements Claim {
  readonly #options: FileClaimOptions
  #taken: Lock | undefined

  constructor(options: FileClaimOptions) {
    this.#options = options
  }

  async take(): Promise<TakenClaim | OtherHolder> {
    const { path, state } = this.#options
    let found: Lock | Held
    try {
      prepareFile(path)
      const file = createLockFile(path)
      found = this.#taken ?? (state ? await lockTogether(file, state) : lockAlone(file))
    } catch (error) {
      throw toOpenFault(`the database ${path}`, error)
    }
    if ('sharing' in found) {
      return { kind: 'other', process: await readHolder(path), sharing: found.sharing }
    }
    this.#taken = found
    return { kind: 'taken', id: found.id }
  }

  /** Records this process in the open database, for messages only; a failure is ignored. */
  async recordHolder(): Promise<void> {
    const { db, holder } = this.#options
    if (this.#taken) await recordHolder(db, holder).catch(() => {})
  }

  async release(): Promise<void> {
    this.#taken?.connection.close()
    this.#taken = undefined
  }
}

/** Returns the path of the second database, which is the same for every path that leads to the first. */
function createLockFile(database: string): string {
  const path = `${realpathSync(database)}-lock`
  // Only for a new file: closing any descriptor of a file releases the process's locks on it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  return path
}

/** The claim of this process. */
interface Lock {
  readonly connection: DatabaseConnection
  readonly id: string | undefined
}

/** The claim of others, with the state that they share; null when they share none. */
interface Held {
  readonly sharing: string | null
}

function lockAlone(file: string): Lock | Held {
  const connection = new DatabaseConnection(file)
  const isLockedAlone = tryLocked(connection, () => connection.run('begin exclusive'))
  if (isLockedAlone) return { connection, id: undefined }
  const sharing = tryLocked(connection, () => readSharing(connection))
  connection.close()
  return { sharing: sharing?.value ?? null }
}

/** How long a process that shares its state waits for others that start at the same moment on a slow disk. */
const maxJoinMs: Millis = 5_000

/** How long it waits while it reads another state: one of the others may only look at that, too. */
const maxOtherMs: Millis = 500

/** Joins the gateways that share this state, or begins such a group when there is no other gateway. */
async function lockTogether(file: string, state: OwnState): Promise<Lock | Held> {
  const own = writeHeldState({ ...state.name, id: randomUUID() })
  // First: an id that gateways have left behind may be that of others by now, on a copy of the file.
  if (state.met.length === 0) tryWriteSharing(file, own)
  const end = performance.now() + maxJoinMs
  let other: { readonly sharing: string; readonly end: Millis } | undefined
  for (;;) {
    const connection = new DatabaseConnection(file)
    // While this read lock is held, no other process can write another name.
    const found = tryLocked(connection, () => {
      connection.run('begin')
      return readSharing(connection)
    })
    const held = found?.value === undefined ? undefined : readHeldState(found.value)
    if (held && isOwnState(held, state)) return { connection, id: held.id }
    connection.close()
    if (found?.value !== other?.sharing) {
      other = found?.value
        ? { sharing: found.value, end: performance.now() + maxOtherMs }
        : undefined
    }
    if (performance.now() > Math.min(end, other?.end ?? end)) {
      return { sharing: other?.sharing ?? null }
    }
    if (!tryWriteSharing(file, own)) await sleep(20)
  }
}

/** Writes the shared state. False when another gateway holds the claim. */
function tryWriteSharing(file: string, sharing: string): boolean {
  const connection = new DatabaseConnection(file)
  const written = tryLocked(connection, () => {
    connection.run('begin exclusive')
    connection.run('create table if not exists claim (sharing text); delete from claim')
    connection.execute({ sql: 'insert into claim values (?)', args: [sharing] })
    connection.run('commit')
  })
  connection.close()
  return written !== undefined
}

/** Returns the shared state. Locks the file against writers while a transaction is open. */
function readSharing(connection: DatabaseConnection): string | undefined {
  const query = "select name from sqlite_master where name = 'claim'"
  if (connection.execute({ sql: query, args: [] }).rows.length === 0) return undefined
  const [row] = connection.execute({ sql: 'select sharing from claim', args: [] }).rows
  return row && String(row[0])
}

/** Returns the result of `work`; undefined when it meets a lock of another process. */
function tryLocked<T>(
  connection: DatabaseConnection,
  work: () => T,
): { readonly value: T } | undefined {
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
  const connection = new DatabaseConnection(path)
  const holder = await readLastHolder(drizzle({ client: toClient(connection) })).catch(
    () => undefined,
  )
  connection.close()
  return holder ?? 'another process'
}
