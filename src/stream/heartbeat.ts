import type { Millis } from '../core/ids.ts'
import type { Clock, Timer } from '../core/ports.ts'

/**
 * A comment with ONE line end: some official SDKs take the blank line of a longer one for the end
 * of an empty event.
 */
export const ping: Uint8Array = new TextEncoder().encode(': ping\n')

/** Calls `beat` whenever nothing was written for `interval`. One timer at a time, not one a write. */
export class Heartbeat {
  readonly #clock: Clock
  readonly #interval: Millis
  readonly #beat: () => void
  #lastWrite: Millis
  #timer: Timer | undefined

  /** An `interval` of 0 never beats. */
  constructor(clock: Clock, interval: Millis, beat: () => void) {
    this.#clock = clock
    this.#interval = interval
    this.#beat = beat
    this.#lastWrite = clock.elapsed()
    if (interval > 0) this.#arm(interval)
  }

  /** Something was written just now. */
  wrote(): void {
    this.#lastWrite = this.#clock.elapsed()
  }

  stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }

  #arm(delay: Millis): void {
    this.#timer = this.#clock.schedule(delay, () => {
      const idle = this.#clock.elapsed() - this.#lastWrite
      if (idle >= this.#interval) {
        this.#lastWrite = this.#clock.elapsed()
        this.#beat()
      }
      // The beat may have stopped us.
      if (this.#timer) this.#arm(this.#lastWrite + this.#interval - this.#clock.elapsed())
    })
  }
}
