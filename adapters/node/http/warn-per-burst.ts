import type { Log } from '../../../src/index.ts'

/** What follows within this time of the same is the same wave, in milliseconds. */
const quietTime = 5_000

export type Warn = (message: string, fields: Readonly<Record<string, unknown>>) => void

/** Writes warnings, one line for a wave of the same message. */
export function warnPerBurst(log: Log): Warn {
  const last = new Map<string, number>()
  return (message, fields) => {
    const now = performance.now()
    const isNew = now - (last.get(message) ?? Number.NEGATIVE_INFINITY) > quietTime
    last.set(message, now)
    if (isNew) log.write('warn', message, fields)
  }
}
