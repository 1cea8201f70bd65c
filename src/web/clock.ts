import { maxTimerDelay } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'

/** The clock of the platform. */
export const webClock: Clock = {
  now: () => Date.now(),
  elapsed: () => performance.now(),
  schedule(delay, fire) {
    const timer = setTimeout(fire, Math.min(delay, maxTimerDelay))
    return { cancel: () => clearTimeout(timer) }
  },
}
