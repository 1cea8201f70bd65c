import type { Client } from '@libsql/client'
import Database from 'libsql'
import { isLocked } from './store-fault.ts'

/** A statement with its bound values, as Drizzle passes it on. */
export interface Statement {
  readonly sql: string
  readonly args: readonly unknown[]
}

/** The result in the form that Drizzle reads. */
export interface StatementResult {
  readonly rows: unknown[][]
  readonly rowsAffected: number
}

/** An error of the driver. */
export class DriverError extends Error {
  override readonly name = 'DriverError'
  /** The primary code of SQLite, such as `SQLITE_IOERR`, or the name of the error. */
  readonly code: string
  /** The index of the failed statement in a batch; undefined for begin and commit. */
  readonly statementIndex: number | undefined

  constructor(cause: unknown, statementIndex?: number) {
    super('the database driver failed', { cause })
    const { code, name } = cause as { readonly code?: unknown; readonly name?: unknown }
    this.code = /^SQLITE_[A-Z]+/.exec(String(code))?.[0] ?? String(name)
    this.statementIndex = statementIndex
  }
}

/** The maximum of statements that a connection keeps prepared. */
const maxPrepared = 50

/**
 * One connection to a database file. It never waits for a lock: while another process holds it, a
 * call fails at once. So no call takes longer than its own work, and a thread can end without
 * waiting for other processes. (Ending a thread inside a failing call would abort the process.)
 */
export class DatabaseConnection {
  readonly #database: Database.Database
  /** By their text. */
  readonly #prepared = new Map<string, Database.Statement>()
  #isSound = true

  constructor(path: string) {
    this.#database = new Database(path, { timeout: 0 })
  }

  /** False after an error that may have left a statement open: later commits could be lost. */
  get isSound(): boolean {
    return this.#isSound
  }

  /** Runs statements without values and results, and prepares none of them. */
  run(sql: string): void {
    try {
      this.#database.exec(sql)
    } catch (cause) {
      const error = new DriverError(cause)
      this.#isSound &&= isLocked(error)
      throw error
    }
  }

  execute(statement: Statement, index?: number): StatementResult {
    try {
      return this.#execute(statement)
    } catch (cause) {
      this.#prepared.delete(statement.sql)
      const error = new DriverError(cause, index)
      this.#isSound &&= error.code === 'SQLITE_CONSTRAINT'
      throw error
    }
  }

  /** Runs all statements as one write transaction. */
  batch(statements: readonly Statement[]): StatementResult[] {
    // Not prepared: a prepared statement that meets a lock stays open and makes later commits fail.
    this.run('begin immediate')
    try {
      const results = statements.map((statement, index) => this.execute(statement, index))
      this.run('commit')
      return results
    } catch (error) {
      this.#rollBack()
      throw error
    }
  }

  /** Closes the connection and gives up its locks. */
  close(): void {
    if (!this.#database.open) return
    // A prepared statement that is not yet collected keeps a closed connection alive, with its transaction.
    this.#rollBack()
    this.#prepared.clear()
    this.#database.close()
  }

  /** After some errors SQLite has already rolled back. */
  #rollBack(): void {
    try {
      if (this.#database.inTransaction) this.run('rollback')
    } catch {
      // The connection is no longer sound. The first error has the reason.
    }
  }

  #execute({ sql, args }: Statement): StatementResult {
    const statement = this.#prepare(sql)
    const values = args.map(toBoundValue)
    if (!statement.reader) return { rows: [], rowsAffected: statement.run(values).changes }
    // In raw mode rows are arrays.
    return { rows: statement.raw(true).all(values) as unknown[][], rowsAffected: 0 }
  }

  /** Statements come again with other values, and preparing one takes longer than running it. */
  #prepare(sql: string): Database.Statement {
    const known = this.#prepared.get(sql)
    if (known) return known
    const statement = this.#database.prepare(sql)
    if (this.#prepared.size === maxPrepared) this.#prepared.clear()
    this.#prepared.set(sql, statement)
    return statement
  }
}

/** Wraps a connection as a client with the two methods that Drizzle and its migrator call. */
export function toClient(connection: DatabaseConnection): Client {
  const client = {
    execute: async (statement: Statement) => connection.execute(statement),
    async migrate(statements: readonly Statement[]) {
      connection.run('pragma foreign_keys = OFF')
      const results = connection.batch(statements)
      connection.run('pragma foreign_keys = ON')
      return results
    },
  }
  return client as unknown as Client
}

/** The driver does not support booleans: they would abort the process. */
function toBoundValue(value: unknown): unknown {
  return typeof value === 'boolean' ? Number(value) : value
}
