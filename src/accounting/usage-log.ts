import type { Millis, NanoUsd } from '../core/ids.ts'
import type { Clock, Log, Timer } from '../core/ports.ts'
import { type NewUsageRow, type Store, UsageBatchBuilder } from '../store/index.ts'
import { OutageLogger } from './outage-logger.ts'

export interface UsageLogOptions {
  readonly store: Pick<Store, 'addUsage'>
  readonly clock: Clock
  readonly log: Log
  /** Rows that may wait, those included that are just being written. */
  readonly capacity: number
  readonly batchMax: number
  /** How long a row waits at most for others to be written with. */
  readonly flushAfter: Millis
  /** There is no room for a row: too many wait, or the log is closed. */
  readonly dropped: (row: NewUsageRow) => void
}

/** What could not be saved before the end. */
export interface Unsaved {
  readonly rows: number
  readonly spend: NanoUsd
}

/** A database that fails is given this much time, however short the rows are to wait. */
const minPauseMs = 500

/**
 * Rows on their way to the usage log: many at a time, one batch after the other. What they cost is
 * charged in the database when they are written, and not before.
 */
export class UsageLog {
  readonly #options: UsageLogOptions
  readonly #outage: OutageLogger
  /** To be written. The first one is just being written, or is sent again after a failure. */
  readonly #due: UsageBatchBuilder[] = []
  /** Still has room. */
  #open: UsageBatchBuilder | undefined
  /** How many rows there are in all of them. */
  #held = 0
  #isFailing = false
  #writing: Promise<void> | undefined
  #timer: Timer | undefined
  #isClosed = false

  constructor(options: UsageLogOptions) {
    this.#options = options
    this.#outage = new OutageLogger({
      log: options.log,
      failing: 'usage rows and spend cannot be saved, they are kept in memory and tried again',
      recovered: 'usage rows and spend are saved again',
    })
  }

  /** Takes a row, at once and without ever failing. */
  add(row: NewUsageRow): void {
    const { capacity, batchMax, flushAfter, dropped } = this.#options
    if (this.#isClosed || this.#held >= capacity) return dropped(row)
    this.#open ??= new UsageBatchBuilder(crypto.randomUUID())
    this.#open.add(row)
    this.#held++
    if (this.#open.length >= batchMax) this.#closeBatch()
    // The end of a batch, or of the pause after a failure, decides what comes next.
    if (this.#writing || this.#isFailing) return
    if (this.#due.length > 0) void this.#startWriting()
    else this.#timer ??= this.#scheduleWriting(flushAfter)
  }

  /** Writes all that waits. Resolves when that is done or has failed. */
  async flush(): Promise<void> {
    while (this.#writing) await this.#writing
    this.#closeBatch()
    if (this.#due.length > 0) await this.#startWriting()
  }

  /** Writes what waits. Resolves to what could not be written. */
  async close(): Promise<Unsaved> {
    this.#isClosed = true
    this.#timer?.cancel()
    await this.flush()
    const costs = this.#due.map(({ cost }) => cost)
    // A sum of nano-dollars.
    return { rows: this.#held, spend: costs.reduce((sum, cost) => sum + cost, 0n) as NanoUsd }
  }

  /** The rows that wait for company wait no longer. */
  #closeBatch(): void {
    if (this.#open) this.#due.push(this.#open)
    this.#open = undefined
  }

  #scheduleWriting(delay: Millis): Timer {
    return this.#options.clock.schedule(delay, () => {
      if (!this.#isFailing) this.#closeBatch()
      void this.#startWriting()
    })
  }

  #startWriting(): Promise<void> {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#writing = this.#write().then(() => {
      this.#writing = undefined
      if (this.#isClosed) return
      const { flushAfter } = this.#options
      if (this.#isFailing) this.#timer = this.#scheduleWriting(Math.max(flushAfter, minPauseMs))
      else if (this.#open) this.#timer = this.#scheduleWriting(flushAfter)
    })
    return this.#writing
  }

  async #write(): Promise<void> {
    try {
      for (let batch = this.#due[0]; batch; batch = this.#due[0]) {
        await this.#options.store.addUsage(batch)
        this.#due.shift()
        this.#held -= batch.length
        this.#isFailing = false
        this.#outage.recordSuccess()
      }
    } catch (error) {
      this.#isFailing = true
      this.#outage.recordFailure(error)
    }
  }
}
