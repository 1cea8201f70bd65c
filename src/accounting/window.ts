import type { MinuteCount } from '../core/accounts.ts'
import type { Millis } from '../core/ids.ts'

const minute = 60_000

/** The result of `add`, with which the amount can be adjusted later. */
export interface WindowDebit {
  readonly window: number
  readonly amount: number
}

/** A counter that starts at 0 in every minute of the wall clock. */
export class MinuteWindow implements MinuteCount {
  #minute = -1
  /** A serial number of windows, because a clock that is set back repeats minutes. */
  #window = 0
  #used = 0

  used(now: Millis): number {
    const current = Math.floor(now / minute)
    // When the clock is set back into the previous minute, the window stays, so that one count
    // covers both sides of the step. When it is set back further, a new window begins.
    if (current !== this.#minute && current !== this.#minute - 1) {
      this.#minute = current
      this.#window++
      this.#used = 0
    }
    return this.#used
  }

  add(amount: number, now: Millis): WindowDebit {
    this.#used = this.used(now) + amount
    return { window: this.#window, amount }
  }

  /** Replaces an added amount by the actual one, if its window has not ended. */
  adjust({ window, amount }: WindowDebit, actual: number): void {
    if (window === this.#window) this.#used += actual - amount
  }

  /** Replaces the count in the window of `now`. */
  set(used: number, now: Millis): void {
    this.add(used - this.used(now), now)
  }

  endsIn(now: Millis): Millis {
    this.used(now)
    return (this.#minute + 1) * minute - now
  }
}
