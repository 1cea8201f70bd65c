import { setTimeout as sleep } from 'node:timers/promises'
import { drizzle } from 'drizzle-orm/libsql/sqlite3'
import type { Bytes } from '../../../src/core/ids.ts'
import { StoreFault, type StoreReport } from '../../../src/store/index.ts'
import type { CallDeadline } from './call-deadline.ts'
import { DatabaseConnection, DriverError, type Statement, toClient } from './connection.ts'
import { DatabaseFile, prepareFile } from './file.ts'
import { migrateDatabase } from './migrations.ts'
import { requireDatabase } from './require-database.ts'
import { isLocked, toOpenFault } from './store-fault.ts'

export interface LocalOptions {
  readonly path: string
  readonly deadline: CallDeadline
  /** As in `StoreSettings`; also holds when the file is deleted while it is open. */
  readonly onMissing?: 'create' | 'reject' | undefined
  readonly report: StoreReport
}

/**
 * A database file with the client methods that Drizzle calls. It is opened on first use, and again
 * after an error that makes the connection unsafe and when its file was deleted or replaced.
 */
export class LocalDatabase {
  readonly #options: LocalOptions
  #open: OpenFile | undefined
  #isJournalLarge = false

  constructor(options: LocalOptions) {
    this.#options = options
  }

  /** Opens the database, or rejects with the reason. */
  open(): Promise<void> {
    return this.#carryOut(() => {}, 'read')
  }

  async execute(statement: Statement) {
    if (/^\s*select\b/i.test(statement.sql)) {
      return this.#carryOut((connection) => connection.execute(statement), 'read')
    }
    const [result] = await this.batch([statement])
    return result
  }

  batch(statements: readonly Statement[]) {
    return this.#carryOut((connection) => connection.batch(statements), 'write')
  }

  close(): void {
    this.#open?.connection.close()
    this.#open = undefined
  }

  async #carryOut<T>(work: (connection: DatabaseConnection) => T, access: Access): Promise<T> {
    for (let pause = 5; ; pause = Math.min(2 * pause, 100)) {
      try {
        const { connection, file } = await this.#ready()
        const result = work(connection)
        if (access === 'write') {
          checkReached(file)
          this.#watchJournal(file)
        }
        return result
      } catch (error) {
        if (!canRepeat(error, access) || this.#options.deadline.remaining < pause) throw error
        await sleep(pause)
      }
    }
  }

  /** Warns once each time that the journal grows past a size: unnoticed, it would fill the disk. */
  #watchJournal({ journalSize: bytes }: DatabaseFile): void {
    const isLarge = bytes > maxJournalBytes
    if (isLarge && !this.#isJournalLarge) {
      const { path, report } = this.#options
      report(largeJournalMessage, { path: `${path}-wal`, bytes }, 'warn')
    }
    this.#isJournalLarge = isLarge
  }

  async #ready(): Promise<OpenFile> {
    const { path, report } = this.#options
    const state = this.#open?.file.state() ?? 'same'
    if (this.#open && state !== 'same') {
      const { file } = this.#open
      this.close()
      file.deleteOldJournal()
      this.#requireDatabase()
      report(lostMessages[state], { path })
    }
    if (this.#open && !this.#open.connection.isSound) this.#open = reopen(this.#open, path)
    if (!this.#open) this.#requireDatabase()
    this.#open ??= await openFile(path)
    return this.#open
  }

  #requireDatabase(): void {
    const { path, onMissing } = this.#options
    if (onMissing === 'reject') requireDatabase(path)
  }
}

type Access = 'read' | 'write'

interface OpenFile {
  readonly connection: DatabaseConnection
  readonly file: DatabaseFile
}

const lostMessages = {
  deleted: 'the database file was deleted; creating an empty one without keys and groups',
  replaced: 'the database file was replaced; opening the new one',
}

async function openFile(path: string): Promise<OpenFile> {
  let connection: DatabaseConnection | undefined
  try {
    prepareFile(path)
    const file = new DatabaseFile(path)
    connection = connect(path)
    checkIntegrity(connection)
    await migrateDatabase(drizzle({ client: toClient(connection) }))
    file.noteJournal()
    return { connection, file }
  } catch (error) {
    connection?.close()
    if (isLocked(error)) throw error
    throw toOpenFault(`the database ${path}`, error)
  }
}

/** Opens a new connection: after a disk error, commits on the old one would be lost. */
function reopen({ connection, file }: OpenFile, path: string): OpenFile {
  connection.close()
  const next = connect(path)
  file.noteJournal()
  return { connection: next, file }
}

/** The size to which SQLite cuts its journal once all of it is in the database. */
const maxIdleJournalBytes: Bytes = 16 * 1024 * 1024

/** The size of the journal from which the operator should look for the reader that holds it. */
const maxJournalBytes: Bytes = 100_000_000

const largeJournalMessage =
  'the write-ahead log of the database keeps growing while another program reads the database: end long reads, such as an open transaction of a shell'

function connect(path: string): DatabaseConnection {
  const connection = new DatabaseConnection(path)
  try {
    // These settings apply to one connection only.
    connection.run('pragma journal_mode = WAL; pragma synchronous = FULL; pragma foreign_keys = ON')
    // The journal grows while another process reads; without a limit it never shrinks again.
    connection.run(`pragma journal_size_limit = ${maxIdleJournalBytes}`)
    return connection
  } catch (error) {
    connection.close()
    throw error
  }
}

function checkIntegrity(connection: DatabaseConnection): void {
  const { rows } = connection.execute({ sql: 'pragma quick_check(1)', args: [] })
  if (rows[0]?.[0] !== 'ok') throw new StoreFault('it is damaged; restore it from a backup')
}

/** Rejects a write into a file that no longer has a name: it would be lost. */
function checkReached(file: DatabaseFile): void {
  if (file.state() === 'same') return
  throw new StoreFault('the database file was deleted or replaced during a write')
}

/** Whether a call cannot have taken effect. A commit with an unknown outcome is never repeated. */
function canRepeat(error: unknown, access: Access): boolean {
  if (isLocked(error)) return true
  if (!(error instanceof DriverError) || error.code !== 'SQLITE_IOERR') return false
  return access === 'read' || error.statementIndex !== undefined
}
