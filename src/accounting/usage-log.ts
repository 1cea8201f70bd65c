import type { Millis } from '../core/ids.ts'
import type { Clock, Log, Timer } from '../core/ports.ts'
import { type NewUsageRow, type Store, type UsageBatch, UsageTable } from '../store/index.ts'
import { FailureNotice } from './failure-notice.ts'

export interface UsageLogOptions {
  readonly store: Pick<Store, 'addUsage'>
  readonly clock: Clock
  readonly log: Log
  /** Rows that may wait, those included that are just being written. */
  readonly capacity: number
  readonly batchMax: number
  /** How long a row waits at most for others to be written with. */
  readonly flushAfter: Millis
  /** A row was dropped: too many wait, or the log was closed over a broken database. */
  readonly dropped: () => void
}

/** A database that fails is given this much time, however short the rows are to wait. */
const leastPause = 500

/** Rows on their way to the usage log: many at a time, one batch after the other. */
export class UsageLog {
  readonly #options: UsageLogOptions
  readonly #notice: FailureNotice
  /** A table a batch; all but the last one are full. */
  readonly #waiting: UsageTable[] = []
  /** Being written, or to be sent again. */
  #batch: UsageBatch | undefined
  #writing: Promise<void> | undefined
  #timer: Timer | undefined
  #isClosed = false

  constructor(options: UsageLogOptions) {
    this.#options = options
    this.#notice = new FailureNotice({
      log: options.log,
      failing: 'usage rows cannot be saved, they are kept in memory and tried again',
      healed: 'usage rows are saved again',
    })
  }

  /** Takes a row, at once and without ever failing. */
  add(row: NewUsageRow): void {
    const { capacity, batchMax, flushAfter, dropped } = this.#options
    if (this.#isClosed || this.#held >= capacity) return dropped()
    const table = this.#table()
    table.add(row)
    // The end of a batch decides what comes next.
    if (this.#batch) return
    if (table.length >= batchMax) this.#begin()
    else this.#timer ??= this.#beginIn(flushAfter)
  }

  /** Writes what waits. Rows that cannot be written now are dropped. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    await this.#writing
    await this.#write()
    const lost = this.#held
    if (lost === 0) return
    this.#options.log.write('warn', 'usage rows are lost, they could not be saved', { rows: lost })
    for (let row = 0; row < lost; row++) this.#options.dropped()
  }

  get #held(): number {
    const last = this.#waiting.at(-1)
    const full = last ? (this.#waiting.length - 1) * this.#options.batchMax : 0
    return full + (last?.length ?? 0) + (this.#batch?.length ?? 0)
  }

  /** One with room. */
  #table(): UsageTable {
    const last = this.#waiting.at(-1)
    if (last && last.length < this.#options.batchMax) return last
    const table = new UsageTable(crypto.randomUUID())
    this.#waiting.push(table)
    return table
  }

  #beginIn(delay: Millis): Timer {
    return this.#options.clock.schedule(delay, () => this.#begin())
  }

  #begin(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#writing = this.#write()
  }

  async #write(): Promise<void> {
    const { store, flushAfter, batchMax } = this.#options
    this.#batch ??= this.#takeBatch(1)
    try {
      while (this.#batch) {
        await store.addUsage(this.#batch)
        this.#notice.worked()
        this.#batch = this.#takeBatch(this.#isClosed ? 1 : batchMax)
      }
      if (this.#waiting.length > 0) this.#timer = this.#beginIn(flushAfter)
    } catch (error) {
      this.#notice.failed(error)
      if (!this.#isClosed) this.#timer = this.#beginIn(Math.max(flushAfter, leastPause))
    }
  }

  /** The oldest rows, if there are at least so many. */
  #takeBatch(least: number): UsageBatch | undefined {
    const [table] = this.#waiting
    if (!table || table.length < least) return undefined
    return this.#waiting.shift()
  }
}
