import type { Millis } from '../../core/ids.ts'
import type { Clock } from '../../core/ports.ts'

/** The wall clock of the server, from its last reply; that of this process before the first. */
export class ServerClock {
  readonly #clock: Pick<Clock, 'now'>
  /** The server's clock minus that of this process. */
  #offset: Millis | undefined

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock
  }

  /** False before the first reply. */
  get isSet(): boolean {
    return this.#offset !== undefined
  }

  now(): Millis {
    return this.#clock.now() + (this.#offset ?? 0)
  }

  /** Follows a reply. */
  set(now: Millis): void {
    this.#offset = now - this.#clock.now()
  }
}
