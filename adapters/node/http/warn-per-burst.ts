import type { Log } from '../../../src/index.ts'

/** A message within this time after the same message belongs to the same burst, in milliseconds. */
const quietTime = 5_000

export type Warn = (message: string, fields: Readonly<Record<string, unknown>>) => void

/** Returns a function that logs warnings, one line per burst of the same message. */
export function warnPerBurst(log: Log): Warn {
  const last = new Map<string, number>()
  return (message, fields) => {
    const now = performance.now()
    const isNew = now - (last.get(message) ?? Number.NEGATIVE_INFINITY) > quietTime
    last.set(message, now)
    if (isNew) log.write('warn', message, fields)
  }
}
