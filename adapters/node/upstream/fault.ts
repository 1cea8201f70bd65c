import { UpstreamFault } from '../../../src/core/failure.ts'
import { ConnectTimeout } from './connect.ts'

/**
 * What an error of undici, of a socket or of DNS means. The reason is a code or the name of a
 * class: messages would hold addresses.
 */
export function faultOf(error: unknown): UpstreamFault {
  if (error instanceof UpstreamFault) return error
  if (error instanceof ConnectTimeout)
    return new UpstreamFault({ kind: 'timeout', limit: 'connect' })
  return new UpstreamFault({ kind: 'network', reason: reasonOf(error) })
}

/** What an exchange ends with that its caller has called off. */
export function abortFault(): UpstreamFault {
  return new UpstreamFault({ kind: 'network', reason: 'aborted' })
}

const lostSocket = new Set(['UND_ERR_SOCKET', 'ECONNRESET', 'EPIPE', 'ECONNABORTED'])

/** True when the peer has closed or reset the connection. */
export function isLostSocket(error: unknown): boolean {
  return lostSocket.has(reasonOf(error))
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  const { code } = error as { code?: unknown }
  return typeof code === 'string' && /^[A-Z][A-Z0-9_]*$/.test(code) ? code : error.name
}
