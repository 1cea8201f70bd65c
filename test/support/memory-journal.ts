import {
  type Journal,
  JournalLineReader,
  type JournalRow,
  type LeftUsage,
  StoreFault,
} from '../../src/store/index.ts'

/** A journal in memory, which keeps the lines that a file would have. Tests can let it fail. */
export class MemoryJournal implements Journal {
  /** The lines of each batch. */
  readonly batches = new Map<string, string[]>()
  readonly place: string
  fails = false
  readonly #appended: [batch: string, line: string][] = []

  constructor(place = '1') {
    this.place = place
  }

  append(batch: string, line: string): void {
    this.#appended.push([batch, line])
  }

  write(): void {
    const appended = this.#appended.splice(0)
    if (this.fails) throw new StoreFault('the disk is full')
    for (const [batch, line] of appended) {
      this.batches.set(batch, [...(this.batches.get(batch) ?? []), line])
    }
  }

  afterTurn(run: () => void): void {
    setImmediate(run)
  }

  forget(batch: string): void {
    this.batches.delete(batch)
  }

  async recover(): Promise<LeftUsage> {
    const batches = Array.from(this.batches, ([id, lines]) => {
      const reader = new JournalLineReader()
      return { id, rows: lines.map((line) => reader.read(line) as JournalRow) }
    })
    return { batches, torn: 0, free: new Set([this.place]) }
  }

  close(): void {}
}
