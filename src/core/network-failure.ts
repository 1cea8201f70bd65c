/** A network failure: the provider was not reached, or the connection to it was lost. */
export interface NetworkFailure {
  readonly kind: 'network'
  /** A code, such as `ECONNREFUSED`. Never an address. */
  readonly reason: string
  /** How far the call had come; absent where the host does not know. */
  readonly phase?: 'connecting' | 'waiting' | 'answering' | undefined
  /** `host:port` of the proxy that could not be reached, or that refused the connection. */
  readonly proxy?: string | undefined
}

/** The reason for a call that the gateway ended itself. */
export const aborted = 'aborted'

/** Returns the reason for a proxy that refused with this status. */
export function toProxyReason(status: number): string {
  return `PROXY_${status}`
}

/** The reason for an answer that begins with a `100 Continue` that the gateway did not request. */
export const unrequestedContinue = 'UNASKED_100_CONTINUE'

/** True when the process or its system cannot open more files, which is not a provider's fault. */
export function isOutOfFiles({ reason }: NetworkFailure): boolean {
  return reason === 'EMFILE' || reason === 'ENFILE'
}

/**
 * Describes what happened, as a predicate of the provider's name: `could not be reached
 * (ECONNREFUSED)`. A reason that is not a code is omitted, because it might contain an address.
 */
export function describeNetworkFailure(failure: NetworkFailure): string {
  const { reason, phase, proxy } = failure
  if (isOutOfFiles(failure)) {
    return `could not be reached: the gateway cannot open more files${bracketCode(reason)}`
  }
  const known = knownCauses[reason]
  switch (phase) {
    case 'connecting':
      return `could not be reached${proxy === undefined ? describeCertificate(reason) : describeProxy(proxy, reason)}`
    case 'waiting':
      return `${known ?? 'closed the connection before it answered'}${bracketCode(reason)}`
    case 'answering':
      return `${known ?? 'closed the connection in the middle of its answer'}${bracketCode(reason)}`
    case undefined:
      return `could not be reached or closed the connection${bracketCode(reason)}`
    default:
      return phase satisfies never
  }
}

function describeCertificate(reason: string): string {
  const problem = certificateProblems[reason]
  if (problem === undefined) return bracketCode(reason)
  return `: its certificate ${problem.says} (${reason})${problem.hint}`
}

function describeProxy(proxy: string, reason: string): string {
  const status = /^PROXY_(\d{3})$/.exec(reason)?.[1]
  return status === undefined
    ? ` through the proxy ${proxy}${bracketCode(reason)}`
    : `: the proxy ${proxy} refused with status ${status}`
}

/** Returns a code in brackets, as messages show it; an empty text for a reason that is not a code. */
export function bracketCode(reason = ''): string {
  return /^[A-Z][A-Z0-9_]*$/.test(reason) ? ` (${reason})` : ''
}

/** Reasons other than a lost connection. */
const knownCauses: Readonly<Record<string, string>> = {
  UND_ERR_HTTP_PARSER: 'sent an answer that is not valid HTTP',
  UND_ERR_HEADERS_OVERFLOW: 'sent an answer whose headers are too large',
  [unrequestedContinue]: 'sent a 100 Continue that the gateway did not request',
}

interface CertificateProblem {
  readonly says: string
  readonly hint: string
}

const untrusted: CertificateProblem = {
  says: 'is not trusted',
  hint: '; see NODE_EXTRA_CA_CERTS and ca_file',
}

/** OpenSSL's codes for a refused certificate, as Node reports them. */
const certificateProblems: Readonly<Record<string, CertificateProblem>> = {
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  CERT_UNTRUSTED: untrusted,
  CERT_HAS_EXPIRED: { says: 'has expired', hint: '' },
  CERT_NOT_YET_VALID: { says: 'is not valid yet', hint: '' },
  ERR_TLS_CERT_ALTNAME_INVALID: { says: 'is for another name', hint: '' },
}
