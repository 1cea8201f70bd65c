import type { Millis } from '../../../src/core/ids.ts'

/** Milliseconds on a clock that never jumps and that all threads of the process share. */
export function sharedNow(): Millis {
  return Number(process.hrtime.bigint()) / 1e6
}

/** How long the present call may go on trying. A thread carries out one call at a time. */
export class CallDeadline {
  #deadline: Millis = 0
  #isAbandoned = false
  #abandoned = () => {}

  /** A call begins that may go on until then, on the shared clock. */
  begin(deadline: Millis): void {
    this.#deadline = deadline
  }

  /** From now on no call goes on trying. */
  abandon(): void {
    this.#isAbandoned = true
    this.#abandoned()
  }

  /** Calls `listener`, and no earlier one, when the calls are abandoned; at once where they are. */
  onAbandon(listener: () => void): void {
    this.#abandoned = listener
    if (this.#isAbandoned) listener()
  }

  /** Milliseconds, 0 at the least. */
  get remaining(): Millis {
    return this.#isAbandoned ? 0 : Math.max(0, this.#deadline - sharedNow())
  }
}
