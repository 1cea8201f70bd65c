import type { Millis, NanoUsd } from '../core/ids.ts'
import type { Clock, Log, Timer } from '../core/ports.ts'
import { type JournalRow, SpendSums, type Store, UsageBatchBuilder } from '../store/index.ts'
import type { RowJournal } from './journal-writer.ts'
import { OutageLogger } from './outage-logger.ts'
import type { UnsavedUsage, UsageLog } from './usage-log.ts'

export interface SpendFlusherOptions {
  readonly store: Pick<Store, 'addSpend'>
  readonly rowJournal: RowJournal
  /** The process that makes the charges, when several share their state. */
  readonly process?: string | undefined
  readonly clock: Clock
  readonly log: Log
  readonly interval: Millis
  readonly usageLog: Pick<UsageLog, 'flush' | 'close'>
}

/** Additions per transaction, about; other calls reach the database in between. */
const maxAdditions = 1_000

/**
 * Saves spend at every interval. Usage rows carry their cost, so a flush writes the rows; only the
 * spend of dropped rows is written separately. A failed flush loses nothing and writes nothing
 * twice.
 */
export class SpendFlusher {
  readonly #options: SpendFlusherOptions
  readonly #outage: OutageLogger
  #interval: Millis
  #timer: Timer | undefined
  #isClosed = false
  /** The spend of the rows that were dropped last. */
  #open: DroppedSpend | undefined
  /** Flushes not yet confirmed. While the first of them fails, a new one is made only if it is full. */
  #pending: DroppedSpend[] = []
  #lastFlush: Promise<void> = Promise.resolve()
  #nextFlush: Promise<void> | undefined

  constructor(options: SpendFlusherOptions) {
    this.#options = options
    this.#interval = options.interval
    this.#outage = new OutageLogger({
      log: options.log,
      failing: 'cannot save the spend of dropped usage rows; keeping it in memory and retrying',
      recovered: 'saving the spend of dropped usage rows works again',
    })
    this.#arm()
  }

  /** Changes the time between two flushes. */
  setInterval(interval: Millis): void {
    // A reload that changes nothing must not postpone the next flush.
    if (interval === this.#interval) return
    this.#interval = interval
    this.#arm()
  }

  /** Saves the cost of a dropped row with the next flush. The journal keeps the row until then. */
  addDropped(row: JournalRow): void {
    if (row.cost === 0n) return
    this.#open ??= new DroppedSpend()
    this.#open.sums.addRow(row)
    const kept = new UsageBatchBuilder(this.#open.id, this.#options.process)
    kept.add(row)
    this.#options.rowJournal.append(kept)
    if (this.#open.sums.size >= maxAdditions) this.#closeOpen()
  }

  /** Saves the spend so far. Resolves when that is done or has failed; a later flush retries. */
  flush(): Promise<void> {
    // All callers share one flush that has not begun yet.
    this.#nextFlush ??= this.#lastFlush.then(() => {
      this.#nextFlush = undefined
      return this.#save()
    })
    this.#lastFlush = this.#nextFlush
    return this.#nextFlush
  }

  /** Flushes for the last time. Resolves to the rows and the spend that could not be saved. */
  async close(): Promise<UnsavedUsage> {
    this.#isClosed = true
    this.#timer?.cancel()
    const unsaved = await this.#options.usageLog.close()
    await this.#lastFlush
    await this.#saveDropped()
    this.#closeOpen()
    const { rowJournal } = this.#options
    rowJournal.write()
    const lost = this.#pending.filter(({ id }) => !rowJournal.isDurable(id))
    const spend = lost.reduce((sum, { sums }) => sum + sums.total('key'), unsaved.spend + 0n)
    // A sum of nano-dollars.
    return { rows: unsaved.rows, spend: spend as NanoUsd }
  }

  async #save(): Promise<void> {
    await this.#options.usageLog.flush()
    await this.#saveDropped()
  }

  async #saveDropped(): Promise<void> {
    if (this.#pending.length > 0 && !(await this.#send())) return
    this.#closeOpen()
    await this.#send()
  }

  #closeOpen(): void {
    if (this.#open) this.#pending.push(this.#open)
    this.#open = undefined
  }

  /** Sends the pending flushes; resolves to false when one of them failed. */
  async #send(): Promise<boolean> {
    try {
      for (let first = this.#pending[0]; first; first = this.#pending[0]) {
        const { store, rowJournal, process } = this.#options
        await store.addSpend({ id: first.id, process, additions: first.sums.additions() })
        this.#pending.shift()
        rowJournal.forget(first.id)
        this.#outage.recordSuccess()
      }
      return true
    } catch (error) {
      this.#outage.recordFailure(error)
      return false
    }
  }

  #arm(): void {
    this.#timer?.cancel()
    if (this.#isClosed) return
    this.#timer = this.#options.clock.schedule(this.#interval, () => {
      void this.flush().then(() => this.#arm())
    })
  }
}

/** The spend of some dropped rows, which is saved in one transaction. */
class DroppedSpend {
  /** The same when it is sent again, and that of the rows in the journal. */
  readonly id = crypto.randomUUID()
  readonly sums = new SpendSums()
}
