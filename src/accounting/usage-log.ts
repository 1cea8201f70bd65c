import type { Millis, NanoUsd } from '../core/ids.ts'
import type { Clock, Log, Timer } from '../core/ports.ts'
import { type ChargedRow, type Store, UsageBatchBuilder } from '../store/index.ts'
import { OutageLogger } from './outage-logger.ts'

export interface UsageLogOptions {
  readonly store: Pick<Store, 'addUsage'>
  readonly clock: Clock
  readonly log: Log
  /** The maximum of waiting rows, including those that are being written. */
  readonly capacity: number
  readonly batchMax: number
  /** The maximum time that a row waits for others to fill its batch. */
  readonly flushAfter: Millis
  /** Called with a row that was dropped: too many wait, or the log is closed. */
  readonly dropped: (row: ChargedRow) => void
}

/** The rows and the spend that could not be saved before the end. */
export interface Unsaved {
  readonly rows: number
  readonly spend: NanoUsd
}

/** The minimum pause after a failed write, even with a shorter `flushAfter`. */
const minPauseMs = 500

/**
 * Writes rows to the usage log in batches, one batch at a time. The database charges their cost in
 * the same transaction.
 */
export class UsageLog {
  readonly #options: UsageLogOptions
  readonly #outage: OutageLogger
  /** Full batches. The first is being written, or waits for another try after a failure. */
  readonly #due: UsageBatchBuilder[] = []
  /** The batch that still has room. */
  #open: UsageBatchBuilder | undefined
  /** The number of rows in all batches. */
  #rowCount = 0
  #isFailing = false
  #writing: Promise<void> | undefined
  #timer: Timer | undefined
  #isClosed = false

  constructor(options: UsageLogOptions) {
    this.#options = options
    this.#outage = new OutageLogger({
      log: options.log,
      failing: 'cannot save usage rows and spend; keeping them in memory and retrying',
      recovered: 'saving usage rows and spend works again',
    })
  }

  /** Accepts a row. Returns at once and never throws. */
  add(row: ChargedRow): void {
    const { capacity, batchMax, flushAfter, dropped } = this.#options
    if (this.#isClosed || this.#rowCount >= capacity) return dropped(row)
    this.#open ??= new UsageBatchBuilder(crypto.randomUUID())
    this.#open.add(row)
    this.#rowCount++
    if (this.#open.length >= batchMax) this.#closeBatch()
    // Otherwise the end of the running write, or of the pause after a failure, starts the next one.
    if (this.#writing || this.#isFailing) return
    if (this.#due.length > 0) void this.#startWriting()
    else this.#timer ??= this.#scheduleWriting(flushAfter)
  }

  /** Writes all waiting rows. Resolves when that is done or has failed. */
  async flush(): Promise<void> {
    while (this.#writing) await this.#writing
    this.#closeBatch()
    if (this.#due.length > 0) await this.#startWriting()
  }

  /** Writes all waiting rows for the last time. Resolves to those that could not be written. */
  async close(): Promise<Unsaved> {
    this.#isClosed = true
    this.#timer?.cancel()
    await this.flush()
    const costs = this.#due.map(({ cost }) => cost)
    // A sum of nano-dollars.
    return { rows: this.#rowCount, spend: costs.reduce((sum, cost) => sum + cost, 0n) as NanoUsd }
  }

  /** Moves the open batch to those that are due. */
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
        this.#rowCount -= batch.length
        this.#isFailing = false
        this.#outage.recordSuccess()
      }
    } catch (error) {
      this.#isFailing = true
      this.#outage.recordFailure(error)
    }
  }
}
