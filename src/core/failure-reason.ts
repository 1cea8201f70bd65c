import { getVendorError, type TimeLimit, type UpstreamFailure } from './failure.ts'
import { describeNetworkFailure, type NetworkFailure } from './network-failure.ts'

/**
 * What happened, as a predicate to the provider's name: `answered with status 429
 * (insufficient_quota)`. It does not quote the upstream.
 */
export function describeFailure(failure: UpstreamFailure): string {
  // The predicate of a network failure has the code already.
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
    case 'circuit-open':
      return 'has an open circuit'
    case 'client-cancelled':
    case 'slow-client':
    case 'shutdown':
    case 'abandoned':
      return 'was not needed any more'
    default:
      return failure satisfies never
  }
}

function describeTimeout(limit: TimeLimit): string {
  switch (limit) {
    case 'connect':
      return 'took too long to connect'
    case 'first-token':
      return 'sent no content in time'
    case 'read':
      return 'fell silent for too long'
    case 'total':
      return 'was not done within the total timeout'
    default:
      return limit satisfies never
  }
}

/** The code of the network, or the vendor's own; undefined for what may be any text. */
export function findErrorCode(failure: UpstreamFailure): string | undefined {
  const reason = 'reason' in failure ? failure.reason : undefined
  const code = reason ?? getVendorError(failure)?.code
  return typeof code === 'string' && /^[A-Za-z][\w.-]{0,63}$/.test(code) ? code : undefined
}

/** What the upstream itself has said; it may quote the request. */
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

/** True when the gateway's own side has ended a call: nothing that an operator must know of a provider. */
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
