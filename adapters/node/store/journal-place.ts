import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { Millis } from '../../../src/core/ids.ts'
import { DatabaseConnection } from './connection.ts'
import { isLocked } from './store-fault.ts'

/** Where a process keeps its unsaved usage rows. */
export interface JournalPlace {
  /** Names the place among all of the database, on every machine. */
  readonly place: string
  /** The path of its files, without their number. */
  readonly prefix: string
}

/** What ended processes have left. */
export interface LeftFiles {
  /** The oldest first. */
  readonly files: readonly LeftFile[]
  /** Those that are too old: the database may have forgotten which of their batches it has. */
  readonly outdated: readonly LeftFile[]
  /** The places that no other process has. */
  readonly free: readonly string[]
}

export interface LeftFile {
  readonly path: string
  readonly place: string
}

export interface JournalSlotOptions {
  /** Returns where the files are. Throws when there is no place for them. */
  readonly findFolder: () => JournalFolder
  /** Whether other gateways may write to the database while this one does not run. */
  readonly hasOthers: boolean
}

export interface JournalFolder {
  /** The path of the files, without slot and number. */
  readonly prefix: string
  /** Distinguishes the folder from those of other machines; empty where there are no others. */
  readonly id: string
}

/**
 * The place of a journal. Each gateway on a database has a slot of its own, with an exclusive transaction
 * on an empty database as its lock: the system releases it however the process ends.
 */
export class JournalSlot {
  readonly #options: JournalSlotOptions
  #taken: TakenSlot | undefined

  constructor(options: JournalSlotOptions) {
    this.#options = options
  }

  /** Takes the first free slot. */
  take(): JournalPlace {
    this.#taken ??= takeFree(this.#options.findFolder())
    const { folder, slot } = this.#taken
    return { place: slot + folder.id, prefix: `${folder.prefix}${slot}-` }
  }

  /**
   * Lists the files of the own slot, and those of every other slot of the folder that no process has, as they
   * are now: its next owner creates files with greater numbers. `places`: those to examine even without files.
   */
  listLeft(places: readonly string[]): LeftFiles {
    if (!this.#taken) return noFiles
    const { folder, slot: own } = this.#taken
    const { prefix, id } = folder
    const found = listFiles(prefix).filter(({ slot }) => slot === own)
    const free = [own]
    const asked = places.flatMap((place) => toSlot(place, id) ?? [])
    const others = new Set([...asked, ...listFiles(prefix).map(({ slot }) => slot)])
    others.delete(own)
    for (const other of others) {
      const lock = tryLock(prefix, other)
      if (!lock) continue
      found.push(...listFiles(prefix).filter(({ slot }) => slot === other))
      lock.close()
      free.push(other)
    }
    found.sort((a, b) => a.number - b.number)
    const left = found.map(({ path, slot }) => ({ path, place: slot + id }))
    const outdated = this.#options.hasOthers ? left.filter(isOutdated) : []
    const files = left.filter((file) => !outdated.includes(file))
    return { files, outdated, free: free.map((slot) => slot + id) }
  }

  release(): void {
    this.#taken?.lock.close()
    this.#taken = undefined
  }
}

export const noFiles: LeftFiles = Object.freeze({ files: [], outdated: [], free: [] })

interface TakenSlot {
  readonly folder: JournalFolder
  readonly slot: string
  readonly lock: DatabaseConnection
}

/** The files beside a database file, which must exist: the same for every path that leads to it. */
export function folderBeside(database: string): JournalFolder {
  return { prefix: `${realpathSync(database)}-unsaved-`, id: '' }
}

/** The files for a database on a server, in a folder that is created if it is missing. */
export function folderIn(folder: string, url: string): JournalFolder {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { host, pathname } = new URL(url)
  const name = encodeURIComponent(`${host}${pathname}`.replace(/\/$/, ''))
  const prefix = join(realpathSync(folder), `${name}-unsaved-`)
  return { prefix, id: `.${readId(`${prefix}id`)}` }
}

/** Reads the random id of a folder; creates it first if it is missing. */
function readId(path: string): string {
  try {
    writeFileSync(path, crypto.randomUUID(), { flag: 'wx', mode: 0o600 })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  return readFileSync(path, 'utf8')
}

/** Less than the time for which a database keeps the ids of its batches, as once.ts has it. */
const maxAge: Millis = 6 * 86_400_000

function isOutdated({ path }: LeftFile): boolean {
  // Another process that starts may have saved and removed it.
  const state = statSync(path, { throwIfNoEntry: false })
  return state !== undefined && state.mtimeMs < Date.now() - maxAge
}

function takeFree(folder: JournalFolder): TakenSlot {
  for (let number = 1; ; number++) {
    const slot = String(number)
    const lock = tryLock(folder.prefix, slot)
    if (lock) return { folder, slot, lock }
  }
}

/** Returns the slot of a place; undefined when it is in another folder. */
function toSlot(place: string, id: string): string | undefined {
  const [, slot, folder] = /^(\d+)(.*)$/.exec(place) ?? []
  return folder === id ? slot : undefined
}

interface FoundFile {
  readonly path: string
  readonly slot: string
  readonly number: number
}

function listFiles(prefix: string): FoundFile[] {
  const folder = dirname(prefix)
  const start = basename(prefix)
  return readdirSync(folder).flatMap((name) => {
    if (!name.startsWith(start)) return []
    const [, slot, number] = /^(\d+)-(\d+)$/.exec(name.slice(start.length)) ?? []
    const path = join(folder, name)
    return slot && number ? [{ path, slot, number: Number(number) }] : []
  })
}

/** Returns the locked connection; undefined while another process has the slot. */
function tryLock(prefix: string, slot: string): DatabaseConnection | undefined {
  const path = `${prefix}${slot}-lock`
  // Only for a new file: closing any descriptor of a file releases the process's locks on it.
  if (!existsSync(path)) closeSync(openSync(path, 'a', 0o600))
  const connection = new DatabaseConnection(path)
  try {
    connection.run('begin exclusive')
    return connection
  } catch (error) {
    connection.close()
    if (isLocked(error)) return undefined
    throw error
  }
}
