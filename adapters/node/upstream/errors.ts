import { UpstreamFault } from '../../../src/core/failure.ts'
import {
  aborted,
  type NetworkFailure,
  unrequestedContinue,
} from '../../../src/core/network-failure.ts'

/**
 * Converts an error of undici, a socket or DNS. The reason is the error code or the class name, never
 * the message, which may contain addresses.
 */
export function toUpstreamFault(error: unknown, phase: NetworkFailure['phase']): UpstreamFault {
  if (error instanceof UpstreamFault) return error
  return new UpstreamFault({ kind: 'network', reason: getErrorReason(error), phase })
}

/** Returns the fault of a request that its caller has aborted. */
export function abortFault(): UpstreamFault {
  return new UpstreamFault({ kind: 'network', reason: aborted })
}

const lostSocket = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNABORTED'])

/** True when the peer has closed or reset the connection. */
export function isLostSocket(error: unknown): boolean {
  return lostSocket.has(getErrorReason(error))
}

/** Returns the code of an error, else the name of its class. */
export function getErrorReason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code } = error as { code?: unknown }
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code)) return refineCode(code, error)
  return error.name === 'HTTPParserError' ? 'UND_ERR_HTTP_PARSER' : error.name
}

/** Separates an unexpected `100 Continue` from undici's general socket error. */
function refineCode(code: string, { message }: Error): string {
  return code === 'UND_ERR_SOCKET' && message === 'bad response' ? unrequestedContinue : code
}
