import type { Millis } from '../core/ids.ts'
import type { Clock, Log } from '../core/ports.ts'
import type { Journal, UsageBatchBuilder } from '../store/index.ts'
import { OutageLogger } from './outage-logger.ts'

/** Keeps rows until the database has them. No method throws. */
export interface RowJournal {
  /** Keeps the last row of a batch, at the end of this turn of the event loop or at the next `write`. */
  append(batch: UsageBatchBuilder): void
  /** Keeps what waits for the end of the turn now. */
  write(): void
  /** Resolves when no row waits; undefined when none does. */
  readonly durable: Promise<void> | undefined
  /** Whether all rows of a batch so far are kept. */
  isDurable(batch: string): boolean
  /** Forgets a batch: the database has it, or another one replaces it. */
  forget(batch: string): void
}

/** For a host without a journal: rows are lost with the process. */
export const noRowJournal: RowJournal = Object.freeze({
  append() {},
  write() {},
  durable: undefined,
  isDurable: () => false,
  forget() {},
})

export interface JournalWriterOptions {
  readonly journal: Journal
  readonly clock: Clock
  readonly log: Log
  /** Called with a number of rows that the journal cannot keep. */
  readonly failed: (rows: number) => void
}

/** The pause after a failure, so that requests do not all try a full disk. */
const pauseMs: Millis = 1_000

/**
 * Keeps rows in the journal. The rows of one turn of the event loop are written with one call of the
 * system, which costs more than all the rest. Requests go on without the journal while it fails.
 */
export class JournalWriter implements RowJournal {
  readonly #options: JournalWriterOptions
  readonly #outage: OutageLogger
  /** The batches whose first row is kept: later ones are written by their differences from it. */
  readonly #begun = new Set<string>()
  /** The batches with a row that is not kept. */
  readonly #unkept = new Set<string>()
  /** The batches of the rows that wait, one for each row. */
  #waiting: string[] = []
  #turn: Promise<void> | undefined
  /** Undefined while the journal works. */
  #pausedUntil: Millis | undefined

  constructor(options: JournalWriterOptions) {
    this.#options = options
    this.#outage = new OutageLogger({
      log: options.log,
      failing:
        'cannot write the journal of unsaved usage: a process that is killed would lose rows',
      recovered: 'writing the journal of unsaved usage works again',
    })
  }

  get durable(): Promise<void> | undefined {
    return this.#turn
  }

  append(batch: UsageBatchBuilder): void {
    const { id, length } = batch
    if (this.#isPausing()) return this.#lose([id])
    const isFirst = length === 1
    const line = !isFirst && this.#begun.has(id) ? batch.nextLine() : batch.fullLine()
    if (isFirst) this.#begun.add(id)
    this.#options.journal.append(id, line)
    this.#waiting.push(id)
    this.#turn ??= this.#waitForTurn()
  }

  write(): void {
    const batches = this.#waiting
    if (batches.length === 0) return
    this.#waiting = []
    try {
      this.#options.journal.write()
      if (this.#pausedUntil === undefined) return
      this.#pausedUntil = undefined
      this.#outage.recordSuccess()
    } catch (error) {
      this.#pausedUntil = this.#options.clock.elapsed() + pauseMs
      this.#outage.recordFailure(error)
      this.#lose(batches)
    }
  }

  isDurable(batch: string): boolean {
    return !this.#unkept.has(batch)
  }

  forget(batch: string): void {
    this.#begun.delete(batch)
    this.#unkept.delete(batch)
    this.#options.journal.forget(batch)
  }

  #waitForTurn(): Promise<void> {
    return new Promise((resolve) => {
      this.#options.journal.afterTurn(() => {
        this.#turn = undefined
        this.write()
        resolve()
      })
    })
  }

  #isPausing(): boolean {
    return this.#pausedUntil !== undefined && this.#options.clock.elapsed() < this.#pausedUntil
  }

  #lose(batches: readonly string[]): void {
    for (const batch of batches) {
      this.#unkept.add(batch)
      this.#begun.delete(batch)
    }
    this.#options.failed(batches.length)
  }
}
