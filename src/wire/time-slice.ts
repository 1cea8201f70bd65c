import { UpstreamFault } from '../core/failure.ts'
import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { CancelScope } from './cancel-scope.ts'

/** Maximum time of one slice, in milliseconds: too short for other requests to notice. */
const maxSlice: Millis = 8

/** Splits a long computation into time slices, so that the event loop can run other work between them. */
export class TimeSlice {
  readonly #clock: Clock
  readonly #scope: CancelScope
  #startedAt: Millis

  constructor(clock: Clock, scope: CancelScope) {
    this.#clock = clock
    this.#scope = scope
    this.#startedAt = clock.elapsed()
  }

  /**
   * Yields to the event loop if the slice is over, else returns at once. Await it every millisecond or so.
   * Rejects when the scope has ended, since the result is no longer needed.
   */
  async pause(): Promise<void> {
    if (this.#clock.elapsed() - this.#startedAt < maxSlice) return
    await this.#scope.sleep(0)
    if (this.#scope.ended) throw new UpstreamFault(this.#scope.ended)
    this.#startedAt = this.#clock.elapsed()
  }
}
