import { type UpstreamFailure, vendorErrorOf } from './failure.ts'

/** A failure in a few words for the log: its kind, status and code, none of the upstream's text. */
export function reasonOf(failure: UpstreamFailure): string {
  const code = codeOf(failure)
  return code === undefined ? plainReason(failure) : `${plainReason(failure)} ${code}`
}

function plainReason(failure: UpstreamFailure): string {
  switch (failure.kind) {
    case 'status':
      return `status ${failure.status}`
    case 'timeout':
      return `timeout ${failure.limit}`
    default:
      return failure.kind
  }
}

/** The code of the network, or the vendor's own; undefined for what may be any text. */
export function codeOf(failure: UpstreamFailure): string | undefined {
  const reason = 'reason' in failure ? failure.reason : undefined
  const code = reason ?? vendorErrorOf(failure)?.code
  return typeof code === 'string' && /^[A-Za-z][\w.-]{0,63}$/.test(code) ? code : undefined
}

/** What the upstream itself has said; it may quote the request. */
export function wordsOf(failure: UpstreamFailure): string {
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
export function isOwnEnd(failure: UpstreamFailure): boolean {
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
