import type { Millis, NanoUsd } from '../core/ids.ts'
import type { Clock, Log, Timer } from '../core/ports.ts'
import { type SpendFlush, SpendSums, type SpentRow, type Store } from '../store/index.ts'
import { OutageLogger } from './outage-logger.ts'
import type { Unsaved, UsageLog } from './usage-log.ts'

export interface SpendFlusherOptions {
  readonly store: Pick<Store, 'addSpend'>
  readonly clock: Clock
  readonly log: Log
  readonly interval: Millis
  readonly usageLog: Pick<UsageLog, 'flush' | 'close'>
}

/** Additions per transaction; other calls reach the database in between. */
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
  /** The spend of dropped rows. */
  #dropped = new SpendSums()
  /** Flushes not yet confirmed. While the first of them fails, no new one is made. */
  #pending: SpendFlush[] = []
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

  /** Saves the cost of a dropped row with the next flush. */
  addDropped(row: SpentRow): void {
    this.#dropped.addRow(row)
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
  async close(): Promise<Unsaved> {
    this.#isClosed = true
    this.#timer?.cancel()
    const unsaved = await this.#options.usageLog.close()
    await this.#lastFlush
    await this.#saveDropped()
    const pending = this.#pending.flatMap(({ additions }) => additions)
    const keys = pending.filter(({ scope }) => scope === 'key')
    const spend = keys.reduce((sum, { amount }) => sum + amount, this.#dropped.total('key') + 0n)
    // A sum of nano-dollars.
    return { rows: unsaved.rows, spend: (unsaved.spend + spend) as NanoUsd }
  }

  async #save(): Promise<void> {
    await this.#options.usageLog.flush()
    await this.#saveDropped()
  }

  async #saveDropped(): Promise<void> {
    if (this.#pending.length > 0 && !(await this.#send())) return
    this.#pending = splitIntoFlushes(this.#dropped)
    this.#dropped = new SpendSums()
    await this.#send()
  }

  /** Sends the pending flushes; resolves to false when one of them failed. */
  async #send(): Promise<boolean> {
    try {
      for (let first = this.#pending[0]; first; first = this.#pending[0]) {
        await this.#options.store.addSpend(first)
        this.#pending.shift()
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

function splitIntoFlushes(sums: SpendSums): SpendFlush[] {
  const additions = sums.additions()
  const flushes: SpendFlush[] = []
  for (let at = 0; at < additions.length; at += maxAdditions) {
    flushes.push({ id: crypto.randomUUID(), additions: additions.slice(at, at + maxAdditions) })
  }
  return flushes
}
