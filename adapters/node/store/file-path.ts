import { statSync } from 'node:fs'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { databaseMissing, StoreFault } from '../../../src/store/index.ts'
import { isServerAddress } from './messages.ts'

/** Returns the absolute path of a database file, which may be given as a `file:` address. */
export function toFilePath(database: string): string {
  return resolve(/^file:/i.test(database) ? fromUrl(database) : database)
}

/** Whether there is a file with content. A file of 0 bytes is an empty database to SQLite. */
export function hasFileContent(path: string): boolean {
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0
}

/** Throws a `StoreFault` with the code `DATABASE_MISSING` unless there is a file with content. */
export function requireContent(path: string): void {
  if (!hasFileContent(path))
    throw new StoreFault(`there is no database at ${path}`, databaseMissing)
}

/**
 * Returns where a database is, for people: the absolute path of a file, or the address of a server without the
 * secrets that it may contain.
 */
export function describeDatabase(database: string): string {
  if (!isServerAddress(database)) return toFilePath(database)
  if (!URL.canParse(database)) return 'at an invalid address'
  const { protocol, host, pathname } = new URL(database)
  return `${protocol}//${host}${pathname === '/' ? '' : pathname}`
}

/** libSQL also allows `file:name` without slashes, which is not a valid URL. */
function fromUrl(url: string): string {
  return /^file:\/\//i.test(url) ? fileURLToPath(url) : decodeURIComponent(url.slice(5))
}
