import type { Clock, IsUtf8 } from '../../core/ports.ts'
import type { TimeSlice } from '../../wire/time-slice.ts'

/** A request whose body has arrived, for the door that reads it. */
export interface ReceivedRequest {
  readonly bytes: Uint8Array
  readonly request: Request
  /** For reading a large body in steps. */
  readonly slice: TimeSlice
  readonly isUtf8: IsUtf8
  readonly clock: Clock
}
