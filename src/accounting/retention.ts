import type { Clock, Log, Timer } from '../core/ports.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import type { Store } from '../store/index.ts'
import { OutageLogger } from './outage-logger.ts'

export interface RetentionOptions {
  readonly store: Pick<Store, 'purgeUsage'>
  readonly clock: Clock
  readonly log: Log
  /** How long rows of the usage log are kept; 0: for ever. */
  readonly days: number
}

const secondsPerDay = 86_400
const hourMs = 3_600_000
/** Rows in one go, and the pause after it, in which other calls of the database get their turn. */
const sliceRows = 2_000
const pauseMs = 50

/** Purges the usage log of old rows: at once, then hourly. */
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
      failing: 'old usage rows cannot be purged, it is tried again every hour',
      recovered: 'old usage rows are purged again',
    })
    void this.#purge()
  }

  /** Keeps rows for another time from now on. */
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

  /** Purges one slice, and sees to what comes next. */
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

  /** True when no more is to be done now. */
  async #purgeSlice(days: number): Promise<boolean> {
    const { store, clock } = this.#options
    const before = unixSeconds(clock) - days * secondsPerDay
    try {
      const purged = await store.purgeUsage(before, sliceRows)
      this.#outage.recordSuccess()
      return purged < sliceRows
    } catch (error) {
      this.#outage.recordFailure(error)
      return true
    }
  }
}
