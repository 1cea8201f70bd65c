import { largeBodyBytes } from '../wire/body-limiter.ts'

/** A body over one of these is heavy: it takes much time to parse, and much memory afterwards. */
const maxLightBytes = 64 * 1024
const maxLightValues = 1000

/** True when the work on a request must yield to other requests. `values` as in `ObjectLayout`. */
export function isHeavyBody(bytes: Uint8Array, values: number): boolean {
  return bytes.length > maxLightBytes || values > maxLightValues
}

/** True when the bytes of a request are released as soon as an answer has begun. */
export function isLargeBody(bytes: Uint8Array): boolean {
  return bytes.length > largeBodyBytes
}
