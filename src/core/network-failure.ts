/** A call that the network ended: the provider was not reached, or its connection broke off. */
export interface NetworkFailure {
  readonly kind: 'network'
  /** A code, such as `ECONNREFUSED`. Never an address. */
  readonly reason: string
  /** How far the call had come; absent where the host cannot tell. */
  readonly phase?: 'connecting' | 'waiting' | 'answering' | undefined
  /** `host:port` of the proxy that could not be reached, or that refused. */
  readonly proxy?: string | undefined
}

/** The reason of a call that the gateway ended itself. */
export const aborted = 'aborted'

/** The reason of a proxy that refused with this status. */
export function toProxyReason(status: number): string {
  return `PROXY_${status}`
}

/** The reason of an answer that begins with a `100 Continue`. */
export const unrequestedContinue = 'UNASKED_100_CONTINUE'

/** True when the process or its system could open no more files: no fault of a provider. */
export function isOutOfFiles({ reason }: NetworkFailure): boolean {
  return reason === 'EMFILE' || reason === 'ENFILE'
}

/**
 * What happened, as a predicate to the provider's name: `could not be reached (ECONNREFUSED)`. A
 * reason that is no code is left out, since it might hold an address.
 */
export function describeNetworkFailure(failure: NetworkFailure): string {
  const { reason, phase, proxy } = failure
  if (isOutOfFiles(failure)) {
    return `could not be reached: the gateway can open no more files${bracketCode(reason)}`
  }
  const known = knownCauses[reason]
  switch (phase) {
    case 'connecting':
      return `could not be reached${proxy === undefined ? describeCertificate(reason) : describeProxy(proxy, reason)}`
    case 'waiting':
      return `${known ?? 'broke off before it answered'}${bracketCode(reason)}`
    case 'answering':
      return `${known ?? 'broke off in the middle of its answer'}${bracketCode(reason)}`
    case undefined:
      return `could not be reached or broke off${bracketCode(reason)}`
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

/** A code as messages show it; nothing for what is no code. */
export function bracketCode(reason = ''): string {
  return /^[A-Z][A-Z0-9_]*$/.test(reason) ? ` (${reason})` : ''
}

/** What an upstream did that is neither silence nor a lost connection. */
const knownCauses: Readonly<Record<string, string>> = {
  UND_ERR_HTTP_PARSER: 'sent an answer that is not valid HTTP',
  UND_ERR_HEADERS_OVERFLOW: 'sent an answer whose headers are too large',
  [unrequestedContinue]: 'sent a 100 Continue that the gateway had not asked for',
}

interface CertificateProblem {
  readonly says: string
  readonly hint: string
}

const untrusted: CertificateProblem = {
  says: 'is not trusted',
  hint: '; see NODE_EXTRA_CA_CERTS and ca_file',
}

/** The codes of OpenSSL for a certificate that is refused. */
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
