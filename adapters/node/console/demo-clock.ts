import type { Millis } from '../../../src/core/ids.ts'
import type { Clock, Timer } from '../../../src/core/ports.ts'
import { systemClock } from '../process/system.ts'

interface Waiting {
  /** By `elapsed`. */
  readonly at: Millis
  readonly fire: () => void
  /** The timer that took its place when the clock went live. */
  live?: Timer
}

/** A clock that begins in the past, is wound up by hand, and from `goLive` on is that of the system. */
export class DemoClock implements Clock {
  readonly #start: Millis
  readonly #waiting = new Set<Waiting>()
  #elapsed: Millis = 0
  /** What `elapsed` of the system was at the start; undefined while the clock is wound up. */
  #liveSince: Millis | undefined

  /** `start`: the wall clock in milliseconds. */
  constructor(start: Millis) {
    this.#start = start
  }

  now(): Millis {
    return this.#liveSince === undefined ? this.#start + this.#elapsed : systemClock.now()
  }

  elapsed(): Millis {
    if (this.#liveSince === undefined) return this.#elapsed
    return systemClock.elapsed() - this.#liveSince
  }

  schedule(delay: Millis, fire: () => void): Timer {
    if (this.#liveSince !== undefined) return systemClock.schedule(delay, fire)
    const waiting: Waiting = { at: this.#elapsed + delay, fire }
    this.#waiting.add(waiting)
    return {
      cancel: () => {
        this.#waiting.delete(waiting)
        waiting.live?.cancel()
      },
    }
  }

  /** Moves the time on, and fires what is due by then in its order. */
  wind(step: Millis): void {
    const end = this.#elapsed + step
    for (;;) {
      const [next] = [...this.#waiting].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      if (!next) break
      this.#elapsed = Math.max(this.#elapsed, next.at)
      this.#waiting.delete(next)
      next.fire()
    }
    this.#elapsed = end
  }

  /** Hands the time and all timers over to the clock of the system. */
  goLive(): void {
    this.#liveSince = systemClock.elapsed() - this.#elapsed
    for (const waiting of this.#waiting) {
      const rest = Math.max(0, waiting.at - this.#elapsed)
      waiting.live = systemClock.schedule(rest, waiting.fire)
    }
    this.#waiting.clear()
  }
}
