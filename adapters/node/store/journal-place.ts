import { closeSync, existsSync, openSync, readdirSync, realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { Connection } from './connection.ts'
import { isLocked } from './store-fault.ts'

/** Where a process keeps its unsaved usage rows. */
export interface JournalPlace {
  /** The path of its files, without their number. */
  readonly prefix: string
  /** The files that ended processes have left, the oldest first. */
  readonly left: readonly string[]
}

/**
 * The place of the journal beside a database file. Each gateway on the file has a slot of its own, with
 * an exclusive transaction on an empty database as its lock: the system releases it however the process
 * ends.
 */
export class JournalSlot {
  readonly #path: string
  #taken: { readonly number: number; readonly lock: Connection } | undefined

  /** `path` is that of the database. */
  constructor(path: string) {
    this.#path = path
  }

  /** Takes the first free slot. The database file must exist. */
  take(): JournalPlace {
    // The same files for every path that leads to the database.
    const prefix = `${realpathSync(this.#path)}-unsaved-`
    this.#taken ??= takeFree(prefix)
    const slot = this.#taken.number
    return { prefix: `${prefix}${slot}-`, left: listLeft(prefix, slot) }
  }

  release(): void {
    this.#taken?.lock.close()
    this.#taken = undefined
  }
}

function takeFree(prefix: string) {
  for (let number = 1; ; number++) {
    const lock = tryLock(prefix, number)
    if (lock) return { number, lock }
  }
}

/**
 * Lists the files of an own slot, and those of every slot that no process has, as they are now: its next
 * owner creates files with greater numbers.
 */
function listLeft(prefix: string, own: number): string[] {
  const left = listFiles(prefix).filter(({ slot }) => slot === own)
  const others = new Set(listFiles(prefix).map(({ slot }) => slot))
  others.delete(own)
  for (const other of others) {
    const lock = tryLock(prefix, other)
    if (!lock) continue
    left.push(...listFiles(prefix).filter(({ slot }) => slot === other))
    lock.close()
  }
  return left.sort((a, b) => a.number - b.number).map(({ path }) => path)
}

interface LeftFile {
  readonly path: string
  readonly slot: number
  readonly number: number
}

function listFiles(prefix: string): LeftFile[] {
  const folder = dirname(prefix)
  const start = basename(prefix)
  return readdirSync(folder).flatMap((name) => {
    if (!name.startsWith(start)) return []
    const [, slot, number] = /^(\d+)-(\d+)$/.exec(name.slice(start.length)) ?? []
    const path = join(folder, name)
    return slot && number ? [{ path, slot: Number(slot), number: Number(number) }] : []
  })
}

/** Returns the locked connection; undefined while another process has the slot. */
function tryLock(prefix: string, slot: number): Connection | undefined {
  const path = `${prefix}${slot}-lock`
  // Only for a new file: closing any descriptor of a file releases the process's locks on it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  const connection = new Connection(path)
  try {
    connection.run('begin exclusive')
    return connection
  } catch (error) {
    connection.close()
    if (isLocked(error)) return undefined
    throw error
  }
}
