import { accessSync, closeSync, constants, existsSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Bytes } from '../../../src/core/ids.ts'
import { StoreFault } from '../../../src/store/index.ts'

/** Creates a missing file, private to this user. SQLite gives its companion files the same mode. */
export function prepareFile(path: string): void {
  const folder = dirname(path)
  const found = statSync(folder, { throwIfNoEntry: false })
  if (!found?.isDirectory()) throw new StoreFault(`no such folder: ${folder}`)
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new StoreFault(`a folder, not a file: ${path}`)
  }
  try {
    // Only for a new file: closing any descriptor of a file releases the process's locks on it.
    if (existsSync(path)) accessSync(path, constants.W_OK)
    else closeSync(openSync(path, 'a', 0o600))
    // SQLite writes the journal into the same folder.
    accessSync(folder, constants.W_OK)
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    throw new StoreFault(`cannot write ${path} or its folder (${code})`)
  }
}

/**
 * The files of an open database. The driver does not notice when they are replaced: it continues to
 * write to the old file, which no longer has a name.
 */
export class DatabaseFile {
  readonly #path: string
  readonly #identity: string | undefined
  #journal: string | undefined

  constructor(path: string) {
    this.#path = path
    this.#identity = readIdentity(path)
  }

  /** Remembers the journal. Call it after every new connection: each creates its own journal. */
  noteJournal(): void {
    this.#journal = readIdentity(`${this.#path}-wal`)
  }

  /** The size of the journal; 0 when there is none. */
  get journalSize(): Bytes {
    return statSync(`${this.#path}-wal`, { throwIfNoEntry: false })?.size ?? 0
  }

  /** Compares the file that is now at the path with the one that was opened. */
  state(): 'same' | 'deleted' | 'replaced' {
    const identity = readIdentity(this.#path)
    if (identity === undefined) return 'deleted'
    return identity === this.#identity ? 'same' : 'replaced'
  }

  /**
   * Deletes the journal that a deleted or replaced database has left. SQLite would apply it to the
   * file that is now at the path, and damage it.
   */
  deleteOldJournal(): void {
    const journal = `${this.#path}-wal`
    if (this.#journal === undefined || readIdentity(journal) !== this.#journal) return
    rmSync(journal, { force: true })
    rmSync(`${this.#path}-shm`, { force: true })
  }
}

function readIdentity(path: string): string | undefined {
  const found = statSync(path, { bigint: true, throwIfNoEntry: false })
  return found && `${found.dev}:${found.ino}`
}
