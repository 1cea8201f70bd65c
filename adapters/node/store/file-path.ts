import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Returns the absolute path of a database file, which may be given as a `file:` address. */
export function toFilePath(database: string): string {
  return resolve(/^file:/i.test(database) ? fromUrl(database) : database)
}

/** libSQL also allows `file:name` without slashes, which is not a valid URL. */
function fromUrl(url: string): string {
  return /^file:\/\//i.test(url) ? fileURLToPath(url) : decodeURIComponent(url.slice(5))
}
