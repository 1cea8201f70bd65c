import { invalid } from '../../core/errors.ts'
import { type Millis, maxTimerDelay } from '../../core/ids.ts'

const header = 'x-gateway-timeout-ms'

/** Reads the total timeout that the client asks for; undefined without one. LM-1001 for anything but milliseconds. */
export function readTimeout(headers: Pick<Headers, 'get'>): Millis | undefined {
  const value = headers.get(header)
  if (value === null) return undefined
  if (!/^0*[1-9]\d*$/.test(value)) {
    throw invalid(`${header}: must be a positive whole number of milliseconds`, header)
  }
  return Math.min(Number(value), maxTimerDelay)
}
