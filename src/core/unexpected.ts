import { errorFields } from './error-fields.ts'
import { GatewayError, internal } from './errors.ts'
import { toClientError, UpstreamFault } from './failure.ts'
import type { RequestId } from './ids.ts'
import type { Log } from './ports.ts'

/** What is not meant for clients becomes LM-5001; its kind, and no more, goes to the log. */
export function asGatewayError(error: unknown, log: Log, id: RequestId): GatewayError {
  if (error instanceof GatewayError) return error
  if (error instanceof UpstreamFault) return toClientError(error.failure, '')
  log.write('error', 'internal error', { request_id: id, ...errorFields(error) })
  return internal()
}
