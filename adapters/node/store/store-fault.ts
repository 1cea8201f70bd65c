import { StoreFault } from '../../../src/store/index.ts'

/**
 * Converts an error to one with a public reason and its code. The driver's own message never
 * leaves: it may contain the statement and its parameters. Drizzle wraps errors, so causes count
 * too.
 */
export function toStoreFault(error: unknown): StoreFault {
  if (error instanceof StoreFault) return error
  if (!(error instanceof Error)) return createFault(typeof error)
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: unknown }
  if (typeof code === 'string') return createFault(code)
  return cause instanceof Error ? toStoreFault(cause) : createFault(error.name)
}

function createFault(code: string): StoreFault {
  return new StoreFault(reasons[code] ?? 'the database failed', code)
}

/** Returns the fault of a database, described by `database`, that cannot be opened. */
export function toOpenFault(database: string, error: unknown): StoreFault {
  const { message, code } = toStoreFault(error)
  const reason = code === undefined ? message : `${message} (${code})`
  return new StoreFault(`cannot open ${database}: ${reason}`, code)
}

/** Whether the error is a lock held by another connection. */
export function isLocked(error: unknown): boolean {
  return lockCodes.has(toStoreFault(error).code)
}

const lockCodes: ReadonlySet<string | undefined> = new Set([
  'SQLITE_BUSY',
  'SQLITE_LOCKED',
  'SQLITE_PROTOCOL',
])

const reasons: Readonly<Record<string, string>> = {
  SQLITE_BUSY: 'the database is locked by another process',
  SQLITE_LOCKED: 'the database is locked',
  SQLITE_CORRUPT: 'the database is damaged; restore it from a backup',
  SQLITE_NOTADB: 'the file is not a database',
  SQLITE_FULL: 'the disk is full',
  SQLITE_IOERR: 'the database cannot be read or written',
  SQLITE_READONLY: 'the database is read-only',
  SQLITE_CANTOPEN: 'the database cannot be opened',
  SERVER_ERROR: 'the database server rejected the request',
  ECONNREFUSED: 'the database server cannot be reached',
  ECONNRESET: 'the database server closed the connection',
  ENOTFOUND: 'the name of the database server cannot be resolved',
  TimeoutError: 'the database server did not respond in time',
}
