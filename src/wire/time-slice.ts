import { UpstreamFault } from '../core/failure.ts'
import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { CancelScope } from './cancel-scope.ts'

/** Others wait at most about this long, well under what they would notice. */
const maxSlice: Millis = 8

/** Cuts one long computation into stretches, between which everyone else has a turn. */
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
   * To be awaited every millisecond or so: takes time only when the stretch has been long enough.
   * Rejects when the scope has ended meanwhile, since nobody waits for the result.
   */
  async pause(): Promise<void> {
    if (this.#clock.elapsed() - this.#startedAt < maxSlice) return
    await this.#scope.sleep(0)
    if (this.#scope.ended) throw new UpstreamFault(this.#scope.ended)
    this.#startedAt = this.#clock.elapsed()
  }
}
