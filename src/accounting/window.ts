import type { Millis } from '../core/ids.ts'

const minute = 60_000

/** What `add` has added, so that it can be corrected. */
export interface WindowDebit {
  readonly window: number
  readonly amount: number
}

/** A count that begins anew with every minute of the wall clock. */
export class MinuteWindow {
  #minute = -1
  /** Tells windows apart: after a jump of the clock the same minute may come again. */
  #window = 0
  #used = 0

  /** What has been counted in the window of `now`. */
  used(now: Millis): number {
    const current = Math.floor(now / minute)
    // A clock that is set back a little stays in its window, or each side of the step would have
    // its own count. One that is set back far must not keep the window for so long.
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

  /** Puts another amount in the place of what was added, if the window still lasts. */
  adjust({ window, amount }: WindowDebit, actual: number): void {
    if (window === this.#window) this.#used += actual - amount
  }

  endsIn(now: Millis): Millis {
    this.used(now)
    return (this.#minute + 1) * minute - now
  }
}
