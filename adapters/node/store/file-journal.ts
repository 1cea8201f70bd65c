import { closeSync, openSync, readFileSync, renameSync, unlinkSync, writeSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Bytes, Millis } from '../../../src/core/ids.ts'
import {
  type Journal,
  JournalLineReader,
  type JournalRow,
  type LeftUsage,
  StoreFault,
  type StoreSettings,
} from '../../../src/store/index.ts'
import type { JournalPlace, LeftFiles } from './journal-place.ts'

/** A new file is begun at this size. */
const maxFileSize: Bytes = 1024 * 1024
/** The maximum size of all files, which a start reads into memory. */
const maxSize: Bytes = 64 * 1024 * 1024

/** The pause before files are listed again, because another process has removed one of them. */
const listPause: Millis = 50

export interface FileJournalOptions extends JournalPlace, Pick<StoreSettings, 'report'> {
  /** Lists what ended processes have left; `places`: those to examine even without files. */
  readonly findLeft: (places: readonly string[]) => Promise<LeftFiles>
}

/**
 * A journal in files. A row is a line. Lines are written without waiting for the disk: they outlast the
 * process, but not a power failure.
 */
export class FileJournal implements Journal {
  readonly #options: FileJournalOptions
  /** The files of this process, the oldest first. */
  readonly #files: OpenFile[] = []
  /** Those of ended processes. */
  #left: LeftFile[] = []
  /** The file that is written: the last one, until it is full. */
  #current: OpenFile | undefined
  /** The size of the files of this process. */
  #size: Bytes = 0
  /** The lines that are not written. */
  #text = ''
  /** The batches of these lines. */
  #batches = new Set<string>()
  /** The files of ended processes that are reported. */
  readonly #reported = new Set<string>()
  /** Greater than the number of any file of an earlier process. */
  #number = Date.now()

  constructor(options: FileJournalOptions) {
    this.#options = options
  }

  get place(): string {
    return this.#options.place
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
    process.nextTick(run)
  }

  forget(batch: string): void {
    this.#batches.delete(batch)
    for (const { batches } of [...this.#left, ...this.#files]) batches.delete(batch)
    this.#removeForgotten()
  }

  async recover(places: Iterable<string>): Promise<LeftUsage> {
    const { free, texts } = await this.#readLeft([...places])
    const reader = new LeftReader()
    this.#left = []
    for (const { path, text } of texts) {
      // A large journal takes a while: other work runs in between.
      if (this.#left.length > 0) await nextTurn()
      const { batches, unreadable } = reader.add(text)
      const isSound = unreadable === 0
      if (!isSound) this.#report('a journal of unsaved usage is damaged', { path, unreadable })
      this.#left.push({ batches, remove: () => (isSound ? remove : setAside)(path) })
    }
    this.#removeForgotten()
    return { ...reader.left, free: new Set(free) }
  }

  close(): void {
    for (const file of this.#files) file.close()
  }

  #create(): OpenFile {
    if (this.#size >= maxSize) throw new StoreFault('the journal has its maximum size')
    const file = new OpenFile(`${this.#options.prefix}${this.#number++}`)
    this.#current = file
    this.#files.push(file)
    return file
  }

  /**
   * Reads what ended processes have left, all of it at the same moment: rows of one file may replace those
   * of another. A file that is gone was saved by another process meanwhile.
   */
  async #readLeft(places: readonly string[]): Promise<ReadFiles> {
    for (;;) {
      const found = await this.#options.findLeft(places)
      const own = new Set(this.#files.map(({ path }) => path))
      const read = readAll(found.files.filter(({ path }) => !own.has(path)))
      if (!read) {
        await sleep(listPause)
        continue
      }
      // These remain, and the others are saved.
      for (const { path, code } of read.unreadable) {
        this.#report('cannot read a journal of unsaved usage', { path, code })
      }
      for (const { path } of found.outdated) this.#report(outdatedMessage, { path })
      const kept = new Set(read.unreadable.map(({ place }) => place))
      return { texts: read.texts, free: found.free.filter((place) => !kept.has(place)) }
    }
  }

  /** Reports each file once. */
  #report(
    message: string,
    fields: { readonly path: string; readonly [name: string]: unknown },
  ): void {
    if (this.#reported.has(fields.path)) return
    this.#reported.add(fields.path)
    this.#options.report?.(message, fields)
  }

  /**
   * Removes files without a batch that is not forgotten, but none before an older one: its rows may
   * replace some of the older file.
   */
  #removeForgotten(): void {
    for (let first = this.#left[0]; first?.batches.size === 0; first = this.#left[0]) {
      this.#left.shift()
      first.remove()
    }
    for (let first = this.#files[0]; first?.batches.size === 0; first = this.#files[0]) {
      this.#files.shift()
      this.#size -= first.size
      if (first === this.#current) this.#current = undefined
      first.close()
      first.remove()
    }
  }
}

const outdatedMessage = 'a journal of unsaved usage is too old: a part of it may be saved already'

interface ReadFiles {
  readonly texts: readonly { readonly path: string; readonly text: string }[]
  readonly free: readonly string[]
}

/** Returns the texts of files, and those that cannot be read; undefined when one of them is gone. */
function readAll(files: LeftFiles['files']) {
  const texts: { path: string; text: string }[] = []
  const unreadable: { path: string; place: string; code: string }[] = []
  for (const { path, place } of files) {
    try {
      texts.push({ path, text: readFileSync(path, 'utf8') })
    } catch (error) {
      const code = toCode(error)
      if (code === 'ENOENT') return undefined
      unreadable.push({ path, place, code })
    }
  }
  return { texts, unreadable }
}

/** A file of an ended process. */
interface LeftFile {
  /** The ids of the batches that are not forgotten. */
  readonly batches: Set<string>
  remove(): void
}

/** A file of this process. */
class OpenFile {
  readonly path: string
  /** The ids of the batches that are not forgotten. */
  readonly batches = new Set<string>()
  readonly #descriptor: number
  #size: Bytes = 0

  constructor(path: string) {
    this.path = path
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
    remove(this.path)
  }
}

/** Collects the batches of the files that ended processes have left. */
class LeftReader {
  readonly #batches = new Map<string, { reader: JournalLineReader; rows: JournalRow[] }>()
  #torn = 0

  get left(): Pick<LeftUsage, 'batches' | 'torn'> {
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

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

function toCode(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'unknown error'
}
