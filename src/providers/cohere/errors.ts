import type { Millis } from '../../core/ids.ts'
import type { Clock } from '../../core/ports.ts'
import type { HeaderReader, UpstreamError } from '../../core/provider.ts'
import { parseVendorError } from '../shared/vendor-error.ts'

/**
 * What a refused request means. 498 (the text holds something that the vendor blocks) and 499 (the
 * request was cancelled) are the client's to see, like every 4xx that blames the request.
 */
export function cohereErrorParser(clock: Clock) {
  return (status: number, body: string, header: HeaderReader): UpstreamError => {
    const { message, vendor } = parseVendorError(body)
    // These hosts answer 405 where the path is wrong. Like a refused key, that is no fault of the
    // request but of the provider's settings, so it counts as one.
    if (status === 405)
      return { status: 403, message: `405, is base_url right? ${message}`, vendor }
    return { status, message, vendor, retryAfter: readResetDelay(header, clock) }
  }
}

/** The wait of a rate limit without `Retry-After`, as the vendor's SDK reads it: to a unix second. */
function readResetDelay(header: HeaderReader, clock: Clock): Millis | undefined {
  const reset = header('x-ratelimit-reset')
  if (reset === undefined || !/^\d{9,12}$/.test(reset)) return undefined
  return Math.max(0, Number(reset) * 1000 - clock.now())
}
