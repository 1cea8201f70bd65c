import type { Clock } from '../../../src/index.ts'

/** The longest delay that a timer of Node takes, in milliseconds; a longer one would fire at once. */
export const longestDelay = 2 ** 31 - 1

/** The system's clock. Its timers do not keep the process alive. */
export const systemClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  schedule(delay, fire) {
    const timer = setTimeout(fire, Math.min(delay, longestDelay)).unref()
    return { cancel: () => clearTimeout(timer) }
  },
}
