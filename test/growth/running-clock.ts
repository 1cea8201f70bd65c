import type { Clock } from '../../src/index.ts'

/** The system's clock, whose timers of no delay fire in the next turn of the event loop. */
export const runningClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  schedule(delay, fire) {
    if (delay === 0) {
      const turn = setImmediate(fire)
      return { cancel: () => clearImmediate(turn) }
    }
    const timer = setTimeout(fire, delay).unref()
    return { cancel: () => clearTimeout(timer) }
  },
}
