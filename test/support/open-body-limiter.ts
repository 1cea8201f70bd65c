import { BodyLimiter } from '../../src/wire/body-limiter.ts'
import { Buffers } from '../../src/wire/buffers.ts'

/** An intake where no body has to wait. */
export function openBodyLimiter(): BodyLimiter {
  const unlimited = () => Number.POSITIVE_INFINITY
  return new BodyLimiter(new Buffers(unlimited), unlimited)
}
