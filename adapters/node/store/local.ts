import { setTimeout as sleep } from 'node:timers/promises'
import { pathToFileURL } from 'node:url'
import {
  type Client,
  createClient,
  type InStatement,
  LibsqlBatchError,
} from '@libsql/client/sqlite3'
import { drizzle } from 'drizzle-orm/libsql/sqlite3'
import { StoreFault } from '../../../src/store/index.ts'
import { driverCode, faultMessage } from './fault.ts'
import { DatabaseFile, prepareFile } from './file.ts'
import type { ReportFields } from './messages.ts'
import { migrateDatabase } from './migrations.ts'

export interface LocalOptions {
  readonly path: string
  /** Milliseconds that a call may go on trying while the database is locked. */
  readonly patience: number
  readonly report: (message: string, fields: ReportFields) => void
}

/**
 * One connection to a database file, as Drizzle uses it. It is opened when it is needed, again after
 * every error that would leave it half-broken, and when its file was deleted or replaced.
 */
export class LocalDatabase {
  readonly #options: LocalOptions
  #open: Connection | undefined

  constructor(options: LocalOptions) {
    this.#options = options
  }

  /** Opens what can be used at once, or tells why it cannot. */
  open(): Promise<void> {
    return this.#carryOut(async () => {}, 'read')
  }

  execute(statement: { readonly sql: string; readonly args: unknown[] }) {
    const access = /^\s*select\b/i.test(statement.sql) ? 'read' : 'write'
    // Drizzle passes on what the queries bind: text, numbers, bigints, booleans and null.
    return this.#carryOut((client) => client.execute(statement as InStatement), access)
  }

  batch(statements: InStatement[]) {
    return this.#carryOut((client) => client.batch(statements, 'write'), 'write')
  }

  close(): void {
    this.#open?.client.close()
    this.#open = undefined
  }

  async #carryOut<T>(work: (client: Client) => Promise<T>, access: Access): Promise<T> {
    const deadline = performance.now() + this.#options.patience
    for (let pause = 25; ; pause = Math.min(2 * pause, 400)) {
      try {
        const connection = await this.#ready()
        const result = await work(connection.client)
        if (access === 'write') checkReached(connection.file)
        return result
      } catch (error) {
        if (this.#open) this.#open.isSound &&= driverCode(error) === 'SQLITE_CONSTRAINT'
        if (!mayRepeat(error, access) || performance.now() + pause > deadline) throw error
        await sleep(pause)
      }
    }
  }

  async #ready(): Promise<Connection> {
    const { path, report } = this.#options
    const state = this.#open?.file.state() ?? 'same'
    if (this.#open && state !== 'same') {
      const { file } = this.#open
      this.close()
      file.deleteOldJournal()
      report(lost[state], { path })
    }
    if (this.#open?.isSound) return this.#open
    if (this.#open) await restore(this.#open)
    this.#open ??= await openConnection(path)
    return this.#open
  }
}

type Access = 'read' | 'write'

interface Connection {
  readonly client: Client
  readonly file: DatabaseFile
  /** False after an error. */
  isSound: boolean
}

const lost = {
  deleted: 'the database file was deleted; an empty one is created, without keys and groups',
  replaced: 'the database file was replaced; the one that is there now is opened',
}

async function openConnection(path: string): Promise<Connection> {
  let client: Client | undefined
  try {
    prepareFile(path)
    const file = new DatabaseFile(path)
    client = createClient({ url: pathToFileURL(path).href, concurrency: 1, timeout: busyTimeout })
    await configure(client)
    await checkIntegrity(client)
    await migrateDatabase(drizzle({ client }))
    file.noteJournal()
    return { client, file, isSound: true }
  } catch (error) {
    client?.close()
    if (isLocked(error)) throw error
    throw new StoreFault(`cannot open the database ${path}: ${faultMessage(error)}`)
  }
}

/** Commits that follow a locked database or a failed disk vanish unless the connection is a new one. */
async function restore(connection: Connection): Promise<void> {
  await connection.client.reconnect()
  await configure(connection.client)
  connection.file.noteJournal()
  connection.isSound = true
}

/** Milliseconds that the driver itself waits for a lock. */
const busyTimeout = 2_000

/** These hold for one connection only. */
async function configure(client: Client): Promise<void> {
  for (const setting of ['journal_mode = WAL', 'synchronous = FULL', 'foreign_keys = ON']) {
    await client.execute(`pragma ${setting}`)
  }
}

async function checkIntegrity(client: Client): Promise<void> {
  const { rows } = await client.execute('pragma quick_check(1)')
  if (rows[0]?.[0] !== 'ok') throw new StoreFault('it is damaged; restore it from a backup')
}

/** A write that went into a file without a name would be gone. */
function checkReached(file: DatabaseFile): void {
  if (file.state() === 'same') return
  throw new StoreFault('the database file was deleted or replaced during a write')
}

/** Repeated is only what cannot have been done: never a commit whose outcome is unknown. */
function mayRepeat(error: unknown, access: Access): boolean {
  if (isLocked(error)) return true
  const hasNoEffect = access === 'read' || error instanceof LibsqlBatchError
  return driverCode(error) === 'SQLITE_IOERR' && hasNoEffect
}

function isLocked(error: unknown): boolean {
  return ['SQLITE_BUSY', 'SQLITE_LOCKED', 'SQLITE_PROTOCOL'].includes(driverCode(error) ?? '')
}
