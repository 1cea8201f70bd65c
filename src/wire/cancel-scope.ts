import { type UpstreamFailure, UpstreamFault } from '../core/failure.ts'
import type { Millis } from '../core/ids.ts'
import type { Clock, Timer } from '../core/ports.ts'
import { removeItem } from './light-abort-controller.ts'

/**
 * A stretch of work that something outside may end: the client leaves, a time limit passes, the
 * process stops. The first end counts. Whoever opens a scope closes it; closing ends nothing, it
 * frees timers and listeners.
 */
export class CancelScope {
  readonly #clock: Clock
  // A few of each at a time, for which a `Set` would be too much.
  #listeners: Listener[] = []
  #limits: Limit[] = []
  #timer: Timer | undefined
  #wakesAt: Millis = 0
  #ended: UpstreamFailure | undefined
  readonly #parent: CancelScope | undefined
  #leaveParent: (() => void) | undefined

  constructor(clock: Clock, parent?: CancelScope) {
    this.#clock = clock
    this.#parent = parent
    this.#leaveParent = parent?.onEnd((failure) => this.end(failure))
  }

  /** Why the scope has ended, if it has. */
  get ended(): UpstreamFailure | undefined {
    return this.#ended
  }

  /** Ends the scope, and every scope opened inside it. Only the first call counts. */
  end(failure: UpstreamFailure): void {
    if (this.#ended) return
    this.#ended = failure
    const listeners = this.#listeners
    this.close()
    for (const listener of listeners) listener(failure)
  }

  /** Ends the scope with `failure` after `delay`. Returns the way to call that off. */
  endAfter(delay: Millis, failure: UpstreamFailure): () => void {
    if (this.#ended) return () => {}
    if (delay < timerResolution) {
      this.end(failure)
      return () => {}
    }
    const limit = { at: this.#clock.elapsed() + delay, failure }
    this.#limits.push(limit)
    this.#wakeAt(limit.at)
    // The timer stays: when it fires for nothing it is set anew for what is left.
    return () => removeItem(this.#limits, limit)
  }

  /**
   * Ends the scope now if a limit has been reached whose timer is still to fire, here or further out.
   * Returns why the scope has ended, if it has.
   */
  expire(): UpstreamFailure | undefined {
    this.#parent?.expire()
    const due = this.#due()
    if (due) this.end(due.failure)
    return this.#ended
  }

  /** The time until the nearest limit set with `endAfter`, here or further out. */
  remaining(): Millis {
    const now = this.#clock.elapsed()
    let least = this.#parent?.remaining() ?? Number.POSITIVE_INFINITY
    for (const { at } of this.#limits) least = Math.min(least, at - now)
    return least
  }

  /** Resolves after `delay`, or as soon as the scope ends. */
  sleep(delay: Millis): Promise<void> {
    return new Promise((resolve) => {
      const timer = this.#clock.schedule(delay, () => {
        stop()
        resolve()
      })
      const stop = this.onEnd(() => {
        timer.cancel()
        resolve()
      })
    })
  }

  /** A scope that ends with this one, and may end sooner. */
  open(): CancelScope {
    return new CancelScope(this.#clock, this)
  }

  /** Calls `listener` when the scope ends, at once if it has. Returns the way to stop listening. */
  onEnd(listener: Listener): () => void {
    if (this.#ended) {
      listener(this.#ended)
      return () => {}
    }
    this.#listeners.push(listener)
    return () => removeItem(this.#listeners, listener)
  }

  /**
   * The outcome of `work`, or an `UpstreamFault` as soon as the scope ends. `work` goes on unheard,
   * but for what it may still bring: that goes to `late`.
   */
  race<T>(work: Promise<T>, late?: (value: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      let isLate = false
      const stop = this.onEnd((failure) => {
        isLate = true
        reject(new UpstreamFault(failure))
      })
      work.then(
        (value) => {
          if (isLate) return late?.(value)
          stop()
          resolve(value)
        },
        (error: unknown) => {
          stop()
          reject(error)
        },
      )
    })
  }

  /** Frees timers and listeners. Nothing that happens later ends the scope's work. */
  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#limits = []
    this.#listeners = []
    this.#leaveParent?.()
    this.#leaveParent = undefined
  }

  /** One timer serves all limits: most requests have two, and need neither. */
  #wakeAt(at: Millis): void {
    if (this.#timer && this.#wakesAt <= at) return
    this.#timer?.cancel()
    this.#wakesAt = at
    this.#timer = this.#clock.schedule(at - this.#clock.elapsed(), () => this.#wake())
  }

  #wake(): void {
    this.#timer = undefined
    const due = this.#due()
    if (due) this.end(due.failure)
    // A limit was called off, or the timer has fired a fraction of a millisecond early.
    else if (this.#limits.length > 0) this.#wakeAt(Math.min(...this.#limits.map(({ at }) => at)))
  }

  /** A limit that has been reached: of several, the one that was set first. */
  #due(): Limit | undefined {
    const now = this.#clock.elapsed()
    return this.#limits.find(({ at }) => at <= now)
  }
}

/** Timers are no finer than this: what begins with less time left has none. */
export const timerResolution: Millis = 1

type Listener = (failure: UpstreamFailure) => void

interface Limit {
  /** On the clock that never jumps. */
  readonly at: Millis
  readonly failure: UpstreamFailure
}
