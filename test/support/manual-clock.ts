import type { Clock, Timer } from '../../src/index.ts'
import { cryptoOperations } from './crypto-operations.ts'

interface Scheduled {
  readonly at: number
  readonly fire: () => void
}

/** A clock that only a test advances. */
export class ManualClock implements Clock {
  #time = 0
  readonly #start: number
  #scheduled: Scheduled[] = []

  /** `start` is the initial wall clock in milliseconds since the epoch. */
  constructor(start = 1_764_000_000_000) {
    this.#start = start
  }

  now(): number {
    return this.#start + this.#time
  }

  elapsed(): number {
    return this.#time
  }

  schedule(delay: number, fire: () => void): Timer {
    const entry = { at: this.#time + delay, fire }
    this.#scheduled.push(entry)
    return {
      cancel: () => {
        this.#scheduled = this.#scheduled.filter((other) => other !== entry)
      },
    }
  }

  /** Number of timers that have neither fired nor been cancelled. */
  get pending(): number {
    return this.#scheduled.length
  }

  /** Advances the time, fires due timers in order, and settles all promises that follow. */
  async advance(delay: number): Promise<void> {
    const until = this.#time + delay
    await settled()
    for (;;) {
      const due = this.#scheduled.filter(({ at }) => at <= until).sort((a, b) => a.at - b.at)[0]
      if (!due) break
      this.#scheduled = this.#scheduled.filter((other) => other !== due)
      this.#time = Math.max(this.#time, due.at)
      due.fire()
      await settled()
    }
    this.#time = until
    await settled()
  }
}

/**
 * Resolves when every promise that needs no timer has settled: after five turns of the event loop in
 * a row without a Web Crypto operation. The thread pool runs these operations, so on a busy machine
 * one takes any number of turns.
 */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) {
    await new Promise((resolve) => setImmediate(resolve))
    if (cryptoOperations.pending > 0) turn = -1
  }
}
