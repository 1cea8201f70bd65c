import { BodyLimiter } from '../../src/wire/body-limiter.ts'
import { Buffers } from '../../src/wire/buffers.ts'

/** A body limiter without limits. */
export function openBodyLimiter(): BodyLimiter {
  const unlimited = () => Number.POSITIVE_INFINITY
  return new BodyLimiter(new Buffers(unlimited), unlimited)
}
