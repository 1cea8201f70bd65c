import { OutageLogger } from '../accounting/index.ts'
import type { Millis } from '../core/ids.ts'
import type { Clock, Log, Timer } from '../core/ports.ts'
import type { SharedState } from '../core/shared-state.ts'
import { type ChangeCounts, type ChangeTopic, changeTopics, type Store } from '../store/index.ts'

export interface ChangeFollowerOptions {
  readonly store: Pick<Store, 'readChanges'>
  readonly shared: SharedState
  readonly clock: Clock
  readonly log: Log
  /** The counts of the changes that this process already has. */
  readonly known: ChangeCounts
  /**
   * Reads the settings of a topic again: what has changed since a count, or all of them when the database
   * has gone back to an earlier one.
   */
  readonly apply: Readonly<Record<ChangeTopic, (since: number | undefined) => Promise<void>>>
}

/** Without a message, the database is asked for changes this often. */
const pollInterval: Millis = 5_000
/** Changes in quick succession are read together. */
const minInterval: Millis = 250

/**
 * Applies what other processes change in the database. They announce each change; a message may be lost, so
 * the database is asked too.
 */
export class ChangeFollower {
  readonly #options: ChangeFollowerOptions
  readonly #outage: OutageLogger
  #known: ChangeCounts
  #timer: Timer | undefined
  #lastCheck: Millis
  #isChecking = false
  #isDue = false
  #isClosed = false

  constructor(options: ChangeFollowerOptions) {
    const { shared, clock, log, known } = options
    this.#options = options
    this.#known = known
    this.#lastCheck = clock.elapsed() - minInterval
    this.#outage = new OutageLogger({
      log,
      failing: 'changes of other processes cannot be applied',
      recovered: 'changes of other processes are applied again',
    })
    shared.subscribe(changeChannel, () => this.#checkSoon())
    shared.onUp(() => this.#checkSoon())
    this.#schedule(pollInterval)
  }

  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  #checkSoon(): void {
    this.#isDue = true
    if (this.#isChecking) return
    const sinceLast = this.#options.clock.elapsed() - this.#lastCheck
    this.#schedule(Math.max(0, minInterval - sinceLast))
  }

  #schedule(delay: Millis): void {
    this.#timer?.cancel()
    if (!this.#isClosed) this.#timer = this.#options.clock.schedule(delay, () => void this.#check())
  }

  async #check(): Promise<void> {
    this.#isChecking = true
    this.#isDue = false
    this.#lastCheck = this.#options.clock.elapsed()
    try {
      await this.#applyChanges()
      this.#outage.recordSuccess()
    } catch (error) {
      if (!this.#isClosed) this.#outage.recordFailure(error)
    }
    this.#isChecking = false
    this.#schedule(this.#isDue ? minInterval : pollInterval)
  }

  async #applyChanges(): Promise<void> {
    const { store, apply } = this.#options
    const counts = await store.readChanges()
    for (const topic of changeTopics) {
      const known = this.#known[topic]
      if (counts[topic] === known || this.#isClosed) continue
      await apply[topic](counts[topic] < known ? undefined : known)
      // A change during that time has a higher count.
      this.#known = { ...this.#known, [topic]: counts[topic] }
    }
  }
}

/** The channel on which a process announces a change. */
export const changeChannel = 'changes'
