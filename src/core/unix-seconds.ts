import type { UnixSeconds } from './ids.ts'
import type { Clock } from './ports.ts'

/** The current time in whole seconds. */
export function unixSeconds(clock: Clock): UnixSeconds {
  return Math.floor(clock.now() / 1000)
}
