import type { Clock } from './ports.ts'

/** The time as it stands on the wire and in records: whole seconds since the epoch. */
export function unixSeconds(clock: Clock): number {
  return Math.floor(clock.now() / 1000)
}
