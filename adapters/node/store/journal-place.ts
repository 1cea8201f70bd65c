import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  realpathSync,
  statSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Millis } from '../../../src/core/ids.ts'
import { Connection } from './connection.ts'
import { isLocked } from './store-fault.ts'

/** Where a process keeps its unsaved usage rows. */
export interface JournalPlace {
  /** The path of its files, without their number. */
  readonly prefix: string
  /** The files that ended processes have left, the oldest first. */
  readonly left: readonly string[]
  /** Those that are too old: the database may have forgotten which of their batches it has. */
  readonly outdated: readonly string[]
}

export interface JournalSlotOptions {
  /** Returns the path of the files, without slot and number. Throws when there is no place for them. */
  readonly findPrefix: () => string
  /** Whether other gateways may write to the database while this one does not run. */
  readonly hasOthers: boolean
}

/**
 * The place of a journal. Each gateway on a database has a slot of its own, with an exclusive transaction
 * on an empty database as its lock: the system releases it however the process ends.
 */
export class JournalSlot {
  readonly #options: JournalSlotOptions
  #taken: { readonly number: number; readonly lock: Connection } | undefined

  constructor(options: JournalSlotOptions) {
    this.#options = options
  }

  /** Takes the first free slot. */
  take(): JournalPlace {
    const { findPrefix, hasOthers } = this.#options
    const prefix = findPrefix()
    this.#taken ??= takeFree(prefix)
    const slot = this.#taken.number
    const files = listLeft(prefix, slot)
    const outdated = hasOthers ? files.filter(isOutdated) : []
    const left = files.filter((path) => !outdated.includes(path))
    return { prefix: `${prefix}${slot}-`, left, outdated }
  }

  release(): void {
    this.#taken?.lock.close()
    this.#taken = undefined
  }
}

/** The files beside a database file, which must exist: the same for every path that leads to it. */
export function prefixBeside(database: string): string {
  return `${realpathSync(database)}-unsaved-`
}

/** The files for a database on a server, in a folder that is created if it is missing. */
export function prefixIn(folder: string, url: string): string {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { host, pathname } = new URL(url)
  const name = encodeURIComponent(`${host}${pathname}`.replace(/\/$/, ''))
  return join(realpathSync(folder), `${name}-unsaved-`)
}

/** Less than the time for which a database keeps the ids of its batches, as once.ts has it. */
const maxAge: Millis = 6 * 86_400_000

function isOutdated(path: string): boolean {
  // Another process that starts may have saved and removed it.
  const state = statSync(path, { throwIfNoEntry: false })
  return state !== undefined && state.mtimeMs < Date.now() - maxAge
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
