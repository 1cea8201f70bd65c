import { getVendorError, type TimeLimit, type UpstreamFailure } from './failure.ts'
import { describeNetworkFailure, type NetworkFailure } from './network-failure.ts'

/**
 * Describes what happened, as a predicate of the provider's name: `answered with status 429
 * (insufficient_quota)`. Never quotes the upstream.
 */
export function describeFailure(failure: UpstreamFailure): string {
  // The description of a network failure contains the code already.
  if (failure.kind === 'network') return describeNetworkFailure(failure)
  const code = findErrorCode(failure)
  return code === undefined ? describePlainly(failure) : `${describePlainly(failure)} (${code})`
}

function describePlainly(failure: Exclude<UpstreamFailure, NetworkFailure>): string {
  switch (failure.kind) {
    case 'status':
      return `answered with status ${failure.status}`
    case 'timeout':
      return describeTimeout(failure.limit)
    case 'malformed':
      return 'sent a malformed answer'
    case 'closed-early':
      return 'ended its stream early'
    case 'error-frame':
      return 'reported an error in its stream'
    case 'no-credential':
      return 'has no usable credential'
    case 'credentials-parked':
      return 'is rate limited with every credential that it accepts'
    case 'circuit-open':
      return 'has an open circuit'
    case 'no-room':
      return 'has no room'
    case 'client-cancelled':
    case 'slow-client':
    case 'shutdown':
    case 'abandoned':
      return 'was cancelled'
    default:
      return failure satisfies never
  }
}

function describeTimeout(limit: TimeLimit): string {
  switch (limit) {
    case 'connect':
      return 'took too long to connect'
    case 'first-token':
      return 'sent no content within the first-token timeout'
    case 'read':
      return 'stopped sending data'
    case 'total':
      return 'did not finish within the total timeout'
    case 'asked':
      return 'did not finish within the time that the client has set'
    default:
      return limit satisfies never
  }
}

/** The network error code, or the vendor's own code; undefined when it could be any text. */
export function findErrorCode(failure: UpstreamFailure): string | undefined {
  const reason = 'reason' in failure ? failure.reason : undefined
  const code = reason ?? getVendorError(failure)?.code
  return typeof code === 'string' && /^[A-Za-z][\w.-]{0,63}$/.test(code) ? code : undefined
}

/** The upstream's own message, which may quote the request. */
export function getUpstreamMessage(failure: UpstreamFailure): string {
  switch (failure.kind) {
    case 'status':
    case 'error-frame':
      return failure.message
    case 'malformed':
      return failure.detail
    default:
      return ''
  }
}

/** True when the client or the gateway ended the call, so the failure says nothing about a provider. */
export function isLocalEnd(failure: UpstreamFailure): boolean {
  switch (failure.kind) {
    case 'client-cancelled':
    case 'slow-client':
    case 'shutdown':
    case 'abandoned':
      return true
    default:
      return false
  }
}
