import { CancelScope } from '../../src/wire/cancel-scope.ts'
import { TimeSlice } from '../../src/wire/time-slice.ts'
import { ManualClock } from './manual-clock.ts'

/** A time slice that is never over. */
export function openSlice(): TimeSlice {
  const clock = new ManualClock()
  return new TimeSlice(clock, new CancelScope(clock))
}
