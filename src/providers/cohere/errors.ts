import type { HeaderReader, UpstreamError } from '../../core/endpoints.ts'
import type { Millis } from '../../core/ids.ts'
import type { Clock } from '../../core/ports.ts'
import { parseVendorError } from '../base/vendor-error.ts'

/**
 * Returns a function that parses an answer outside 2xx. 498 (the vendor blocks the text) and 499
 * (the request was cancelled) reach the client, like every 4xx that blames the request.
 * https://docs.cohere.com/errors-reference
 */
export function cohereErrorParser(clock: Clock) {
  return (status: number, body: string, header: HeaderReader): UpstreamError => {
    const { message, vendor } = parseVendorError(body)
    // Cohere's hosts answer 405 for a wrong path. The provider's settings are at fault, as with a
    // refused key, so the status becomes 403.
    if (status === 405) return { status: 403, message: `405, check base_url: ${message}`, vendor }
    return { status, message, vendor, retryAfter: readResetDelay(header, clock) }
  }
}

/**
 * Returns the delay of a rate limit without `Retry-After`, in milliseconds. Like the vendor's SDK,
 * it reads `x-ratelimit-reset` as a Unix time in seconds.
 */
function readResetDelay(header: HeaderReader, clock: Clock): Millis | undefined {
  const reset = header('x-ratelimit-reset')
  if (reset === undefined || !/^\d{9,12}$/.test(reset)) return undefined
  return Math.max(0, Number(reset) * 1000 - clock.now())
}
