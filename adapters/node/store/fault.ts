import { StoreFault } from '../../../src/store/index.ts'

/**
 * What may be told of an error: a reason, and the code and class it comes from. Never its message,
 * which may hold the statement and its parameters.
 */
export function faultMessage(error: unknown): string {
  if (error instanceof StoreFault) return error.message
  const { name, code } = innermost(error)
  const reason = reasons[code ?? name] ?? 'the database failed'
  return `${reason} (${[code, name].filter(Boolean).join(', ')})`
}

/** The code of the driver, without its extension; undefined for what is no error of the driver. */
export function driverCode(error: unknown): string | undefined {
  return innermost(error).code
}

interface Outline {
  readonly name: string
  readonly code: string | undefined
}

/** Drizzle wraps the driver's error in one of its own. */
function innermost(error: unknown): Outline {
  if (!(error instanceof Error)) return { name: typeof error, code: undefined }
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  if (typeof code === 'string') return { name: error.name, code }
  return cause instanceof Error ? innermost(cause) : { name: error.name, code: undefined }
}

const reasons: Readonly<Record<string, string>> = {
  SQLITE_BUSY: 'the database is locked by another process',
  SQLITE_LOCKED: 'the database is locked',
  SQLITE_CORRUPT: 'the database is damaged; restore it from a backup',
  SQLITE_NOTADB: 'the file is not a database',
  SQLITE_FULL: 'the disk is full',
  SQLITE_IOERR: 'the database cannot be read or written',
  SQLITE_READONLY: 'the database is read-only',
  SQLITE_CANTOPEN: 'the database cannot be opened',
  SERVER_ERROR: 'the database server refuses the request',
  ECONNREFUSED: 'the database server cannot be reached',
  ECONNRESET: 'the database server closed the connection',
  ENOTFOUND: 'the database server is not known by that name',
  TimeoutError: 'the database server does not answer',
}
