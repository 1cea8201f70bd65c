import type { Clock, Log, Timer } from '../core/ports.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import type { Store } from '../store/index.ts'
import { OutageLogger } from './outage-logger.ts'

export interface RetentionOptions {
  readonly store: Pick<Store, 'purgeUsage' | 'purgeRefused' | 'purgeAudit'>
  readonly clock: Clock
  readonly log: Log
  /** The age at which rows of the usage log, the refused requests and the audit log are purged; 0: never. */
  readonly days: number
}

const secondsPerDay = 86_400
const hourMs = 3_600_000
/** Rows per call, and the pause after each call, in which other calls reach the database. */
const sliceRows = 2_000
const pauseMs = 50

/** Purges old rows of the usage log, the refused requests and the audit log: at once, then every hour. */
export class Retention {
  readonly #options: RetentionOptions
  readonly #outage: OutageLogger
  #days: number
  #timer: Timer | undefined
  #isPurging = false
  #isClosed = false

  constructor(options: RetentionOptions) {
    this.#options = options
    this.#days = options.days
    this.#outage = new OutageLogger({
      log: options.log,
      failing: 'cannot purge old usage rows; retrying every hour',
      recovered: 'purging old usage rows works again',
    })
    void this.#purge()
  }

  /** Changes the retention and applies it at once. */
  setDays(days: number): void {
    if (days === this.#days) return
    this.#days = days
    this.#timer?.cancel()
    if (!this.#isPurging) void this.#purge()
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  /** Purges one slice and schedules the next. */
  async #purge(): Promise<void> {
    const days = this.#days
    if (days === 0 || this.#isClosed) return
    this.#isPurging = true
    const isDone = await this.#purgeSlice(days)
    this.#isPurging = false
    if (this.#isClosed) return
    const wait = isDone && days === this.#days ? hourMs : pauseMs
    this.#timer = this.#options.clock.schedule(wait, () => void this.#purge())
  }

  /** Resolves to whether no more rows have to be purged now. */
  async #purgeSlice(days: number): Promise<boolean> {
    const { store, clock } = this.#options
    const before = unixSeconds(clock) - days * secondsPerDay
    try {
      const isDone =
        (await store.purgeUsage(before, sliceRows)) < sliceRows &&
        (await store.purgeRefused(before, sliceRows)) < sliceRows &&
        (await store.purgeAudit(before, sliceRows)) < sliceRows
      this.#outage.recordSuccess()
      return isDone
    } catch (error) {
      // A closing gateway cuts its purge off.
      if (!this.#isClosed) this.#outage.recordFailure(error)
      return true
    }
  }
}
