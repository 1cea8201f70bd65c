import { UpstreamFault } from '../../../src/core/failure.ts'
import {
  aborted,
  type NetworkFailure,
  unrequestedContinue,
} from '../../../src/core/network-failure.ts'

/**
 * What an error of undici, of a socket or of DNS means. The reason is a code or the name of a
 * class: messages would hold addresses.
 */
export function toUpstreamFault(error: unknown, phase: NetworkFailure['phase']): UpstreamFault {
  if (error instanceof UpstreamFault) return error
  return new UpstreamFault({ kind: 'network', reason: getErrorReason(error), phase })
}

/** What an exchange ends with that its caller has called off. */
export function abortFault(): UpstreamFault {
  return new UpstreamFault({ kind: 'network', reason: aborted })
}

const lostSocket = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNABORTED'])

/** True when the peer has closed or reset the connection. */
export function isLostSocket(error: unknown): boolean {
  return lostSocket.has(getErrorReason(error))
}

/** The code of an error, else the name of its class. */
export function getErrorReason(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code } = error as { code?: unknown }
  if (typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code)) return refineCode(code, error)
  return error.name === 'HTTPParserError' ? 'UND_ERR_HTTP_PARSER' : error.name
}

/** undici has one code for all that befalls a socket; this one is the upstream's own doing. */
function refineCode(code: string, { message }: Error): string {
  return code === 'UND_ERR_SOCKET' && message === 'bad response' ? unrequestedContinue : code
}
