import { GatewayError } from '../../core/errors.ts'
import type { Millis } from '../../core/ids.ts'
import { SharedStateFault } from '../../core/shared-state.ts'
import { StoreFault } from '../../store/index.ts'

/** True when the server cannot be used, or the database that it needs to be filled from. */
export function isLoss(error: unknown): error is SharedStateFault | StoreFault {
  return error instanceof SharedStateFault || error instanceof StoreFault
}

/** True when a call whose reply is lost may have been run, or may be run later. */
export function mayHaveRun(error: unknown): boolean {
  return error instanceof SharedStateFault && error.mayHaveRun
}

/** True when the connection was cut, so that another call may be answered. */
export function isCut(error: unknown): boolean {
  return error instanceof SharedStateFault && error.isCut
}

/** For so long a decision is asked for again whose connection was cut. */
export const repeatTime: Millis = 500

export function unavailable(): GatewayError {
  return new GatewayError('LM-5003', 'the shared state cannot be used; try again', {
    retryAfter: 1_000,
  })
}
