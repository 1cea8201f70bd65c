import type { Millis } from '../../../src/core/ids.ts'

/** Returns milliseconds of a monotonic clock that all threads of the process share. */
export function sharedNow(): Millis {
  return Number(process.hrtime.bigint()) / 1e6
}

/** The time limit for retries of the current call. A thread runs one call at a time. */
export class CallDeadline {
  #deadline: Millis = 0
  #isAbandoned = false
  #abandoned = () => {}

  /** Starts a call that may retry until `deadline` on the shared clock. */
  begin(deadline: Millis): void {
    this.#deadline = deadline
  }

  /** Stops all retries, from now on. */
  abandon(): void {
    this.#isAbandoned = true
    this.#abandoned()
  }

  /** Sets the one listener for `abandon`. Calls it at once if calls are already abandoned. */
  onAbandon(listener: () => void): void {
    this.#abandoned = listener
    if (this.#isAbandoned) listener()
  }

  /** The milliseconds that remain, at least 0. */
  get remaining(): Millis {
    return this.#isAbandoned ? 0 : Math.max(0, this.#deadline - sharedNow())
  }
}
