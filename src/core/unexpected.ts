import { errorFields } from './error-fields.ts'
import { GatewayError, internal } from './errors.ts'
import { toClientError, UpstreamFault } from './failure.ts'
import type { RequestId } from './ids.ts'
import type { Log } from './ports.ts'

/** Converts any thrown value to a client's error. An unexpected one becomes LM-5001; only its kind is logged. */
export function asGatewayError(error: unknown, log: Log, id: RequestId): GatewayError {
  if (error instanceof GatewayError) return error
  if (error instanceof UpstreamFault) return toClientError(error.failure, '')
  log.write('error', 'internal error', { request_id: id, ...errorFields(error) })
  return internal()
}
