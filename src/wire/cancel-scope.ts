import { type UpstreamFailure, UpstreamFault } from '../core/failure.ts'
import type { Millis } from '../core/ids.ts'
import type { Clock, Timer } from '../core/ports.ts'
import { removeItem } from './light-abort-controller.ts'

/**
 * A scope of work that may be cancelled from outside: the client leaves, a time limit passes, the process
 * stops. Only the first cancellation counts. The code that opens a scope must close it; `close` cancels
 * nothing and frees timers and listeners.
 */
export class CancelScope {
  readonly #clock: Clock
  // Arrays: a `Set` costs more for the few entries of each.
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

  /** Why the scope has ended; undefined while it has not. */
  get ended(): UpstreamFailure | undefined {
    return this.#ended
  }

  /** Ends the scope and all scopes opened inside it. Only the first call counts. */
  end(failure: UpstreamFailure): void {
    if (this.#ended) return
    this.#ended = failure
    const listeners = this.#listeners
    this.close()
    for (const listener of listeners) listener(failure)
  }

  /** Ends the scope with `failure` after `delay` milliseconds. Returns a function that cancels this. */
  endAfter(delay: Millis, failure: UpstreamFailure): () => void {
    if (this.#ended) return () => {}
    if (delay < timerResolution) {
      this.end(failure)
      return () => {}
    }
    const limit = { at: this.#clock.elapsed() + delay, failure }
    this.#limits.push(limit)
    this.#wakeAt(limit.at)
    // The timer keeps running; when it fires, it is set again for the remaining limits.
    return () => removeItem(this.#limits, limit)
  }

  /**
   * Ends the scope now if one of its limits, or of its parents', has passed but the timer has not fired
   * yet. Returns why the scope has ended, or undefined.
   */
  expire(): UpstreamFailure | undefined {
    this.#parent?.expire()
    const due = this.#due()
    if (due) this.end(due.failure)
    return this.#ended
  }

  /** Returns the time until the nearest limit of this scope or its parents, in milliseconds. */
  remaining(): Millis {
    const now = this.#clock.elapsed()
    let nearest = this.#parent?.remaining() ?? Number.POSITIVE_INFINITY
    for (const { at } of this.#limits) nearest = Math.min(nearest, at - now)
    return nearest
  }

  /** Resolves after `delay` milliseconds, or as soon as the scope ends. */
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

  /** Opens a scope that ends with this one or sooner. */
  open(): CancelScope {
    return new CancelScope(this.#clock, this)
  }

  /** Calls `listener` when the scope ends, or at once if it has. Returns a function that unsubscribes. */
  onEnd(listener: Listener): () => void {
    if (this.#ended) {
      listener(this.#ended)
      return () => {}
    }
    this.#listeners.push(listener)
    return () => removeItem(this.#listeners, listener)
  }

  /**
   * Settles like `work`, or rejects with an `UpstreamFault` as soon as the scope ends. `work` then goes
   * on, and a value that it still produces goes to `late`.
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

  /** Frees timers and listeners. Later events do not end the scope. */
  close(): void {
    this.#timer?.cancel()
    this.#timer = undefined
    this.#limits = []
    this.#listeners = []
    this.#leaveParent?.()
    this.#leaveParent = undefined
  }

  /** Sets the timer. One serves all limits: most requests have two limits and reach neither. */
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
    // A limit was cancelled, or the timer fired a fraction of a millisecond early.
    else if (this.#limits.length > 0) this.#wakeAt(Math.min(...this.#limits.map(({ at }) => at)))
  }

  /** Returns a limit that has passed; of several, the one that was set first. */
  #due(): Limit | undefined {
    const now = this.#clock.elapsed()
    return this.#limits.find(({ at }) => at <= now)
  }
}

/** Resolution of timers, in milliseconds. A limit below it counts as already passed. */
export const timerResolution: Millis = 1

type Listener = (failure: UpstreamFailure) => void

interface Limit {
  /** In milliseconds of the monotonic clock. */
  readonly at: Millis
  readonly failure: UpstreamFailure
}
