import type { Millis, NanoUsd } from '../core/ids.ts'
import type { Clock, Log, Timer } from '../core/ports.ts'
import { type NewUsageRow, type SpendFlush, SpendSums, type Store } from '../store/index.ts'
import { OutageLogger } from './outage-logger.ts'
import type { Unsaved, UsageLog } from './usage-log.ts'

export interface SpendFlusherOptions {
  readonly store: Pick<Store, 'addSpend'>
  readonly clock: Clock
  readonly log: Log
  readonly interval: Millis
  readonly usageLog: Pick<UsageLog, 'flush' | 'close'>
}

/** Additions in one transaction: other calls of the database get their turn in between. */
const maxAdditions = 1_000

/**
 * Sees to it that spend is saved at every interval. The usage rows carry what they cost, so it makes
 * them leave; only what has no row it writes by itself. Nothing is lost or written twice when that
 * fails.
 */
export class SpendFlusher {
  readonly #options: SpendFlusherOptions
  readonly #outage: OutageLogger
  #interval: Millis
  #timer: Timer | undefined
  #isClosed = false
  /** What dropped rows have cost. */
  #dropped = new SpendSums()
  /** Taken and not yet known to be saved. While the first of them fails, no more is taken. */
  #pending: SpendFlush[] = []
  #lastFlush: Promise<void> = Promise.resolve()
  #nextFlush: Promise<void> | undefined

  constructor(options: SpendFlusherOptions) {
    this.#options = options
    this.#interval = options.interval
    this.#outage = new OutageLogger({
      log: options.log,
      failing: 'the spend of dropped rows cannot be saved, it is kept in memory and tried again',
      recovered: 'the spend of dropped rows is saved again',
    })
    this.#arm()
  }

  /** From now on this much time lies between two flushes. */
  setInterval(interval: Millis): void {
    // A reload that changes nothing must not put the next flush off.
    if (interval === this.#interval) return
    this.#interval = interval
    this.#arm()
  }

  /** The row was dropped; what it has cost is saved without it. */
  addDropped({ keyId, groupId, cost }: Pick<NewUsageRow, 'keyId' | 'groupId' | 'cost'>): void {
    this.#dropped.add('key', keyId, cost)
    if (groupId !== null) this.#dropped.add('group', groupId, cost)
  }

  /**
   * Saves what was spent until now. Resolves when that is done or has failed; a failure is made good
   * by a later flush.
   */
  flush(): Promise<void> {
    // One flush that has not yet begun is enough for all who wait.
    this.#nextFlush ??= this.#lastFlush.then(() => {
      this.#nextFlush = undefined
      return this.#save()
    })
    this.#lastFlush = this.#nextFlush
    return this.#nextFlush
  }

  /** Flushes a last time. Resolves to what could not be saved. */
  async close(): Promise<Unsaved> {
    this.#isClosed = true
    this.#timer?.cancel()
    const unsaved = await this.#options.usageLog.close()
    await this.#lastFlush
    await this.#saveDropped()
    for (const { additions } of this.#pending) {
      for (const { scope, id, amount } of additions) this.#dropped.add(scope, id, amount)
    }
    // A sum of nano-dollars.
    const spend = (unsaved.spend + this.#dropped.total('key')) as NanoUsd
    return { rows: unsaved.rows, spend }
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

  /** Sends what is pending; false when it could not be sent to the end. */
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
