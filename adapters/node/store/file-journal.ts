import { closeSync, openSync, readFileSync, renameSync, unlinkSync, writeSync } from 'node:fs'
import type { Bytes } from '../../../src/core/ids.ts'
import {
  type Journal,
  JournalLineReader,
  type JournalRow,
  type LeftUsage,
  StoreFault,
  type StoreSettings,
} from '../../../src/store/index.ts'
import type { JournalPlace } from './journal-place.ts'

/** A new file is begun at this size. */
const maxFileSize: Bytes = 1024 * 1024
/** The maximum size of all files, which a start reads into memory. */
const maxSize: Bytes = 64 * 1024 * 1024

type Report = NonNullable<StoreSettings['report']>

/**
 * A journal in files. A row is a line. Lines are written without waiting for the disk: they outlast the
 * process, but not a power failure.
 */
export class FileJournal implements Journal {
  readonly #place: JournalPlace
  readonly #report: Report
  /** The oldest first. */
  readonly #files: JournalFile[] = []
  /** The file that is written: the last one, until it is full. */
  #current: OpenFile | undefined
  /** The size of the files of this process. */
  #size: Bytes = 0
  /** The lines that are not written. */
  #text = ''
  /** The batches of these lines. */
  #batches = new Set<string>()
  /** Greater than the number of any file of an earlier process. */
  #number = Date.now()

  constructor(place: JournalPlace, report: Report = () => {}) {
    this.#place = place
    this.#report = report
  }

  append(batch: string, line: string): void {
    this.#text += `${batch} ${line}\n`
    this.#batches.add(batch)
  }

  write(): void {
    const text = this.#text
    const batches = this.#batches
    this.#text = ''
    this.#batches = new Set()
    try {
      const file = this.#current ?? this.#create()
      this.#size += file.append(text, batches)
      if (file.size >= maxFileSize) this.#current = undefined
    } catch (error) {
      if (error instanceof StoreFault) throw error
      const code = toCode(error)
      throw new StoreFault(`cannot write a file of the journal (${code})`, code)
    }
  }

  afterTurn(run: () => void): void {
    setImmediate(run)
  }

  forget(batch: string): void {
    this.#batches.delete(batch)
    for (const { batches } of this.#files) batches.delete(batch)
    this.#removeForgotten()
  }

  async recover(): Promise<LeftUsage> {
    const reader = new LeftReader()
    for (const path of this.#place.left) {
      const found = this.#tryRead(path, reader)
      if (found) this.#files.push(found)
    }
    this.#removeForgotten()
    for (const path of this.#place.outdated) {
      this.#report('a journal of unsaved usage is too old: a part of it may be saved already', {
        path,
      })
    }
    return reader.left
  }

  close(): void {
    for (const file of this.#files) file.close()
  }

  #create(): OpenFile {
    if (this.#size >= maxSize) throw new StoreFault('the journal has its maximum size')
    const file = new OpenFile(`${this.#place.prefix}${this.#number++}`)
    this.#current = file
    this.#files.push(file)
    return file
  }

  /**
   * Removes files without a batch that is not forgotten, but none before an older one: its rows may
   * replace some of the older file.
   */
  #removeForgotten(): void {
    for (let first = this.#files[0]; first?.batches.size === 0; first = this.#files[0]) {
      this.#files.shift()
      this.#size -= first.size
      if (first === this.#current) this.#current = undefined
      first.close()
      first.remove()
    }
  }

  /** Returns undefined when a file cannot be read: it remains, and the start goes on. */
  #tryRead(path: string, reader: LeftReader): JournalFile | undefined {
    try {
      const { batches, unreadable } = reader.add(readFileSync(path, 'utf8'))
      const isSound = unreadable === 0
      if (!isSound) this.#report('a journal of unsaved usage is damaged', { path, unreadable })
      return { batches, size: 0, close() {}, remove: () => (isSound ? remove : setAside)(path) }
    } catch (error) {
      this.#report('cannot read a journal of unsaved usage', { path, code: toCode(error) })
      return undefined
    }
  }
}

interface JournalFile {
  /** The ids of the batches that are not forgotten. */
  readonly batches: Set<string>
  /** 0 for a file of an earlier process. */
  readonly size: Bytes
  close(): void
  remove(): void
}

/** A file of this process. */
class OpenFile implements JournalFile {
  readonly batches = new Set<string>()
  readonly #path: string
  readonly #descriptor: number
  #size: Bytes = 0

  constructor(path: string) {
    this.#path = path
    this.#descriptor = openSync(path, 'wx', 0o600)
  }

  /** Up to the end of the last whole line. */
  get size(): Bytes {
    return this.#size
  }

  /** Writes lines of these batches. Returns their size. */
  append(lines: string, batches: Iterable<string>): Bytes {
    // At their own place: what a full disk has cut off is overwritten by the next lines.
    const written = writeSync(this.#descriptor, lines, this.#size)
    if (written < Buffer.byteLength(lines)) throw new StoreFault('the disk is full')
    this.#size += written
    for (const batch of batches) this.batches.add(batch)
    return written
  }

  close(): void {
    closeSync(this.#descriptor)
  }

  remove(): void {
    remove(this.#path)
  }
}

/** Collects the batches of the files that ended processes have left. */
class LeftReader {
  readonly #batches = new Map<string, { reader: JournalLineReader; rows: JournalRow[] }>()
  #torn = 0

  get left(): LeftUsage {
    const batches = Array.from(this.#batches, ([id, { rows }]) => ({ id, rows }))
    return { batches, torn: this.#torn }
  }

  /** Adds the text of a file. Returns the batches in it, and the number of lines that are not rows. */
  add(text: string) {
    const batches = new Set<string>()
    let unreadable = 0
    const lines = text.split('\n')
    // What follows the last line break is a line that was not written to its end.
    if (lines.pop() !== '') this.#torn++
    for (const line of lines) {
      const [id = ''] = line.split(' ', 1)
      const batch = this.#batches.get(id) ?? { reader: new JournalLineReader(), rows: [] }
      const row = batch.reader.read(line.slice(id.length + 1))
      if (!row) {
        unreadable++
        continue
      }
      batch.rows.push(row)
      batches.add(id)
      this.#batches.set(id, batch)
    }
    return { batches, unreadable }
  }
}

/** Removes a file. If it remains, that does no harm: the database ignores batches that it has. */
function remove(path: string): void {
  try {
    unlinkSync(path)
  } catch {}
}

function setAside(path: string): void {
  try {
    renameSync(path, `${path}-damaged`)
  } catch {}
}

function toCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error'
}
