import { accessSync, closeSync, constants, existsSync, openSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { StoreFault } from '../../../src/store/index.ts'

/** Creates the file where there is none, private to this user; its companions take over its mode. */
export function prepareFile(path: string): void {
  const folder = dirname(path)
  const found = statSync(folder, { throwIfNoEntry: false })
  if (!found?.isDirectory()) throw new StoreFault(`no such folder: ${folder}`)
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) {
    throw new StoreFault(`a folder, not a file: ${path}`)
  }
  try {
    // Closing any descriptor of a file frees the locks that the process has on it.
    if (existsSync(path)) accessSync(path, constants.W_OK)
    else closeSync(openSync(path, 'a', 0o600))
    // SQLite puts the journal beside it.
    accessSync(folder, constants.W_OK)
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    throw new StoreFault(`cannot write ${path} or its folder (${code})`)
  }
}

/**
 * The files of an open database. The driver does not notice when another file takes their place: it
 * goes on writing to one that has no name any more.
 */
export class DatabaseFile {
  readonly #path: string
  readonly #identity: string | undefined
  #journal: string | undefined

  constructor(path: string) {
    this.#path = path
    this.#identity = readIdentity(path)
  }

  /** To be called when a connection has begun to use the database: each makes a journal of its own. */
  noteJournal(): void {
    this.#journal = readIdentity(`${this.#path}-wal`)
  }

  /** What stands at the path now. */
  state(): 'same' | 'deleted' | 'replaced' {
    const identity = readIdentity(this.#path)
    if (identity === undefined) return 'deleted'
    return identity === this.#identity ? 'same' : 'replaced'
  }

  /**
   * Deletes the journal that was left behind when the database was deleted or replaced. It would be
   * played into the file that now stands there, and damage it.
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
