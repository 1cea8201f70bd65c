import type { ObjectLayout } from '../core/layout.ts'
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

/** The tools of a body with more values are estimated from their bytes, without rendering them again. */
const maxCountedValues = 50_000

/** Returns the length of the tools in a body that has too many values; undefined for any other body. */
export function measureTools({
  values,
  spans,
}: Pick<ObjectLayout<'tools'>, 'values' | 'spans'>): number | undefined {
  if (values <= maxCountedValues) return undefined
  const tools = spans.tools.at(-1)
  return tools ? tools.end - tools.start : 0
}
