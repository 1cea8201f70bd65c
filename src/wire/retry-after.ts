import type { Millis } from '../core/ids.ts'
import type { UpstreamResponse } from '../core/ports.ts'

/**
 * Returns how long an upstream asks to wait, in milliseconds: from `retry-after-ms` (sent by OpenAI and
 * Azure), else from `Retry-After` in seconds, whole or decimal, or as an HTTP date. Returns undefined
 * when both are absent or invalid. `now` is the wall clock in milliseconds.
 */
export function parseRetryAfter(
  header: UpstreamResponse['header'],
  now: Millis,
): Millis | undefined {
  const milliseconds = header('retry-after-ms')
  if (milliseconds !== undefined && decimal.test(milliseconds)) return Number(milliseconds)
  const value = header('retry-after')?.trim()
  if (value === undefined || value === '') return undefined
  if (decimal.test(value)) return Number(value) * 1000
  const date = Date.parse(value)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}

const decimal = /^\d{1,12}(\.\d{1,6})?$/
