import type { Client } from '@libsql/client'
import Database from 'libsql'
import { isLocked } from './store-fault.ts'

/** What a query binds: Drizzle passes it on as it is. */
export interface Statement {
  readonly sql: string
  readonly args: readonly unknown[]
}

/** As Drizzle reads it. */
export interface StatementResult {
  readonly rows: unknown[][]
  readonly rowsAffected: number
}

/** An error of the driver. */
export class DriverError extends Error {
  override readonly name = 'DriverError'
  /** Of SQLite, without its extension: `SQLITE_IOERR`. Else the name of the error. */
  readonly code: string
  /** Which statement of a batch has failed; undefined for the begin and the end of one. */
  readonly statementIndex: number | undefined

  constructor(cause: unknown, statementIndex?: number) {
    super('the driver of the database has failed', { cause })
    const { code, name } = cause as { readonly code?: unknown; readonly name?: unknown }
    this.code = /^SQLITE_[A-Z]+/.exec(String(code))?.[0] ?? String(name)
    this.statementIndex = statementIndex
  }
}

/**
 * One connection to a database file. It never waits for a lock: while another process holds it, a
 * call fails at once. So no call takes longer than its own work, and a thread that is to end need
 * not wait for other processes. (Ended within a call that fails, it would abort the process.)
 */
export class Connection {
  readonly #database: Database.Database
  #isSound = true

  constructor(path: string) {
    this.#database = new Database(path, { timeout: 0 })
  }

  /** False after an error that may have left a statement open: commits could vanish. */
  get isSound(): boolean {
    return this.#isSound
  }

  /** Runs statements that take no values and return no rows. None of them stays prepared. */
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
      const error = new DriverError(cause, index)
      this.#isSound &&= error.code === 'SQLITE_CONSTRAINT'
      throw error
    }
  }

  /** Carries out all statements as one writing transaction, or none of them. */
  batch(statements: readonly Statement[]): StatementResult[] {
    // Not prepared: a prepared one that meets a lock stays open, and later commits fail.
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

  close(): void {
    if (this.#database.open) this.#database.close()
  }

  /** Some errors have rolled back already. */
  #rollBack(): void {
    try {
      if (this.#database.inTransaction) this.run('rollback')
    } catch {
      // The connection is no longer sound; the first error says why.
    }
  }

  #execute({ sql, args }: Statement): StatementResult {
    const statement = this.#database.prepare(sql)
    const values = args.map(toBoundValue)
    if (!statement.reader) return { rows: [], rowsAffected: statement.run(values).changes }
    // In raw mode rows are arrays.
    return { rows: statement.raw(true).all(values) as unknown[][], rowsAffected: 0 }
  }
}

/** A connection as Drizzle and its migrator use it: their other calls are not made here. */
export function toClient(connection: Connection): Client {
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

/** The driver knows no booleans: they would abort the process. */
function toBoundValue(value: unknown): unknown {
  return typeof value === 'boolean' ? Number(value) : value
}
