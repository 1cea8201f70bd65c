import { GatewayError } from '../../../src/core/errors.ts'
import { UpstreamFault } from '../../../src/core/failure.ts'

/** The error that parsers of upstream bytes declare. */
export function isUpstreamFault(error: unknown): boolean {
  return error instanceof UpstreamFault
}

/** The error that parsers of client bytes declare. */
export function isInvalidRequest(error: unknown): boolean {
  return error instanceof GatewayError && error.code === 'LM-1001'
}
