import type { Millis } from '../core/ids.ts'
import type { Clock, Log, Timer } from '../core/ports.ts'
import type { SpendAddition, SpendFlush, Store } from '../store/index.ts'
import { FailureNotice } from './failure-notice.ts'

export interface LedgerOptions {
  readonly store: Pick<Store, 'addSpend'>
  readonly clock: Clock
  readonly log: Log
  readonly interval: Millis
  /** What was spent since the last time; it is the ledger's to save from then on. */
  readonly takeUnsaved: () => readonly SpendAddition[]
}

/** Additions in one transaction: other calls of the database get their turn in between. */
const mostAdditions = 1_000

/** Brings what was spent to the database, now and then. Nothing is lost or written twice when it fails. */
export class Ledger {
  readonly #options: LedgerOptions
  readonly #notice: FailureNotice
  #interval: Millis
  #timer: Timer | undefined
  #isClosed = false
  /** Taken and not yet known to be saved. While the first of them fails, no more is taken. */
  #pending: SpendFlush[] = []
  #last: Promise<void> = Promise.resolve()
  #next: Promise<void> | undefined

  constructor(options: LedgerOptions) {
    this.#options = options
    this.#interval = options.interval
    this.#notice = new FailureNotice({
      log: options.log,
      failing: 'spend cannot be saved, it is kept in memory and tried again',
      healed: 'spend is saved again',
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

  /**
   * Saves what was spent until now. Resolves when that is done or has failed; a failure is made good
   * by a later flush.
   */
  flush(): Promise<void> {
    // One flush that has not yet begun is enough for all who wait.
    this.#next ??= this.#last.then(() => {
      this.#next = undefined
      return this.#write()
    })
    this.#last = this.#next
    return this.#next
  }

  /** Flushes a last time. */
  close(): Promise<void> {
    this.#isClosed = true
    this.#timer?.cancel()
    return this.flush()
  }

  async #write(): Promise<void> {
    if (this.#pending.length > 0 && !(await this.#send())) return
    this.#pending = flushesOf(this.#options.takeUnsaved())
    await this.#send()
  }

  /** Sends what is pending; false when it could not be sent to the end. */
  async #send(): Promise<boolean> {
    try {
      for (let first = this.#pending[0]; first; first = this.#pending[0]) {
        await this.#options.store.addSpend(first)
        this.#pending.shift()
        this.#notice.worked()
      }
      return true
    } catch (error) {
      this.#notice.failed(error)
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

function flushesOf(additions: readonly SpendAddition[]): SpendFlush[] {
  const flushes: SpendFlush[] = []
  for (let at = 0; at < additions.length; at += mostAdditions) {
    flushes.push({ id: crypto.randomUUID(), additions: additions.slice(at, at + mostAdditions) })
  }
  return flushes
}
