import { Buffers } from '../../src/wire/buffers.ts'
import { Intake } from '../../src/wire/intake.ts'

/** An intake where no body has to wait. */
export function openIntake(): Intake {
  const unlimited = () => Number.POSITIVE_INFINITY
  return new Intake(new Buffers(unlimited), unlimited)
}
