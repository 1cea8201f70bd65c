import type { Millis, NanoUsd } from '../core/ids.ts'
import { toUsd } from '../core/money.ts'
import type { Clock, Log, Timer } from '../core/ports.ts'
import {
  type ChargedRow,
  type JournalRow,
  type LostCharge,
  type Store,
  UsageBatchBuilder,
} from '../store/index.ts'
import type { RowJournal } from './journal-writer.ts'
import { OutageLogger } from './outage-logger.ts'

export interface UsageLogOptions {
  readonly store: Pick<Store, 'addUsage'>
  readonly rowJournal: RowJournal
  /** The process that charges the rows, when several share their state. */
  readonly process?: string | undefined
  readonly clock: Clock
  readonly log: Log
  /** The maximum of waiting rows, including those that are being written. */
  readonly capacity: number
  readonly batchMax: number
  /** The maximum time that a row waits for others to fill its batch. */
  readonly flushAfter: Millis
  /** Called with a row that was dropped: too many wait, or the log is closed. */
  readonly dropped: (row: JournalRow) => void
  /** Called with a saved row whose request was charged as lost before. */
  readonly refund?: ((row: JournalRow, charge: LostCharge) => void) | undefined
}

/** The rows and the spend that were neither saved nor kept in the journal before the end. */
export interface UnsavedUsage {
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

  /**
   * Keeps a row in the journal whose final form is still to come. The function that it returns adds
   * the final row in its place.
   */
  recordPending(row: ChargedRow): (final: ChargedRow) => void {
    const { rowJournal, process } = this.#options
    const held = new UsageBatchBuilder(crypto.randomUUID(), process)
    held.add(row)
    rowJournal.append(held)
    return (final) => {
      this.add({ ...final, replaces: held.id })
      // Before the held row goes: a process may be killed in between.
      rowJournal.write()
      rowJournal.forget(held.id)
    }
  }

  /**
   * Accepts a row, and keeps it in the journal until the database has it. Returns at once and never
   * throws.
   */
  add(row: JournalRow): void {
    const { capacity, batchMax, flushAfter, dropped, rowJournal, process } = this.#options
    if (this.#isClosed || this.#rowCount >= capacity) return dropped(row)
    this.#open ??= new UsageBatchBuilder(crypto.randomUUID(), process)
    this.#open.add(row)
    this.#rowCount++
    rowJournal.append(this.#open)
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

  /** Writes all waiting rows for the last time. Resolves to those that are lost. */
  async close(): Promise<UnsavedUsage> {
    this.#isClosed = true
    this.#timer?.cancel()
    await this.flush()
    const { rowJournal, log } = this.#options
    rowJournal.write()
    const kept = sumUp(this.#due.filter(({ id }) => rowJournal.isDurable(id)))
    if (kept.rows > 0) {
      log.write('warn', 'usage is not saved yet: the next start saves it', {
        rows: kept.rows,
        spend_usd: toUsd(kept.spend),
      })
    }
    return sumUp(this.#due.filter(({ id }) => !rowJournal.isDurable(id)))
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
        const lost = await this.#options.store.addUsage(batch)
        this.#due.shift()
        this.#rowCount -= batch.length
        this.#refund(batch, lost)
        this.#options.rowJournal.forget(batch.id)
        this.#isFailing = false
        this.#outage.recordSuccess()
      }
    } catch (error) {
      this.#isFailing = true
      this.#outage.recordFailure(error)
    }
  }

  #refund(batch: UsageBatchBuilder, lost: readonly LostCharge[]): void {
    if (lost.length === 0) return
    const { refund, rowJournal } = this.#options
    for (const charge of lost) {
      const row = batch.find(charge)
      if (row) refund?.(row, charge)
    }
    // Before the batch is forgotten: who finds it in the journal refunds what is not refunded yet.
    rowJournal.write()
  }
}

function sumUp(batches: readonly UsageBatchBuilder[]): UnsavedUsage {
  const rows = batches.reduce((sum, { length }) => sum + length, 0)
  // A sum of nano-dollars.
  return { rows, spend: batches.reduce((sum, { cost }) => sum + cost, 0n) as NanoUsd }
}
