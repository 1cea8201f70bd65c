import { type ErrorCode, type ErrorDetail, GatewayError, noRetryHeader } from './errors.ts'
import type { Millis } from './ids.ts'
import { bracketCode, describeNetworkFailure, type NetworkFailure } from './network-failure.ts'
import type { VendorError } from './vendor-error.ts'

/** Why an upstream refuses a request whatever its credential: its length, or the vendor's content filter. */
export type UpstreamRefusal = 'prompt-too-long' | 'content-filter'

/** `asked`: the total time that the client itself has set for its request. */
export type TimeLimit = 'connect' | 'first-token' | 'read' | 'total' | 'asked'

/** What went wrong between the gateway and one upstream. `judgeFailure` decides what follows. */
export type UpstreamFailure =
  | {
      readonly kind: 'status'
      readonly status: number
      readonly message: string
      readonly retryAfter?: Millis | undefined
      readonly vendor?: VendorError | undefined
      /**
       * The request is at fault, although the status blames the credential or a rate limit: another
       * credential has answered alike, or the vendor names the request's size.
       */
      readonly isRequestFault?: true
      /** Present with status 400, when the vendor's words or codes say more than a status can. */
      readonly refusal?: UpstreamRefusal | undefined
    }
  | { readonly kind: 'timeout'; readonly limit: TimeLimit }
  | NetworkFailure
  | {
      readonly kind: 'malformed'
      readonly detail: string
      /** Present when the upstream sent an error in place of an answer. */
      readonly vendor?: VendorError | undefined
    }
  /**
   * `reason`: the network error code, when the connection was lost. `lacksDone`: only `[DONE]` was missing, after
   * all finish reasons.
   */
  | {
      readonly kind: 'closed-early'
      readonly reason?: string | undefined
      readonly lacksDone?: true
    }
  | {
      readonly kind: 'error-frame'
      readonly message: string
      readonly vendor?: VendorError | undefined
    }
  /** `reason`: the host's error code for a file that cannot be read, for the log only. */
  | {
      readonly kind: 'no-credential'
      readonly message: string
      readonly reason?: string | undefined
    }
  /**
   * The credentials that the provider accepts are parked because of rate limits, and it has refused the
   * last one that is not. `message` and `vendor` are of that refusal, `retryAfter` is the shortest wait.
   */
  | {
      readonly kind: 'credentials-parked'
      readonly message: string
      readonly vendor?: VendorError | undefined
      readonly retryAfter: Millis
    }
  | { readonly kind: 'circuit-open'; readonly retryAfter: Millis }
  /** As many calls run as the configuration allows. */
  | { readonly kind: 'no-room' }
  | { readonly kind: 'client-cancelled' }
  | { readonly kind: 'slow-client' }
  | { readonly kind: 'shutdown' }
  /** Cancelled because another part of the same request failed. */
  | { readonly kind: 'abandoned' }

/** Carries an `UpstreamFailure` through a rejected promise. Never reaches a client. */
export class UpstreamFault extends Error {
  override readonly name = 'UpstreamFault'
  readonly failure: UpstreamFailure

  constructor(failure: UpstreamFailure) {
    super(failure.kind)
    this.failure = failure
  }
}

/** Returns the failure inside a rejection. An error other than `UpstreamFault` is a network failure. */
export function toFailure(error: unknown): UpstreamFailure {
  return error instanceof UpstreamFault
    ? error.failure
    : { kind: 'network', reason: error instanceof Error ? error.name : 'unknown' }
}

/** What a failure means for the rest of the request. */
export type FailureVerdict = 'retry' | 'fail-over' | 'surface' | 'end'

/**
 * Decides what follows a failure: `retry` the same link; `fail-over` to the next link, because a retry
 * would fail in the same way; `surface` the error at once, because the request itself is at fault;
 * `end`, because the client has left or no time remains.
 */
export function judgeFailure(failure: UpstreamFailure): FailureVerdict {
  switch (failure.kind) {
    case 'status':
      // The next link may be another model, or at another vendor, which serves the request.
      return failure.isRequestFault ? 'fail-over' : judgeStatus(failure.status)
    case 'timeout':
      if (failure.limit === 'total' || failure.limit === 'asked') return 'end'
      return failure.limit === 'first-token' ? 'fail-over' : 'retry'
    case 'network':
    case 'malformed':
    case 'closed-early':
    case 'error-frame':
      return 'retry'
    case 'no-credential':
    case 'credentials-parked':
    case 'circuit-open':
    case 'no-room':
      return 'fail-over'
    case 'client-cancelled':
    case 'slow-client':
    case 'shutdown':
    case 'abandoned':
      return 'end'
    default:
      return failure satisfies never
  }
}

function judgeStatus(status: number): FailureVerdict {
  if (status === 408 || status === 429 || status >= 500) return 'retry'
  if (status >= 400) return isCredentialStatus(status) ? 'fail-over' : 'surface'
  // Redirects are not followed, and the remaining statuses are not answers.
  return 'retry'
}

/** A proxy answers 407 when it refuses the credential for the proxy itself. */
function isCredentialStatus(status: number): boolean {
  return status === 401 || status === 402 || status === 403 || status === 407
}

/** The wait that a rate limit or an overload asks for; undefined for other failures. */
export function getRequestedWait(failure: UpstreamFailure): Millis | undefined {
  if (failure.kind === 'credentials-parked') return failure.retryAfter
  if (failure.kind !== 'status' || failure.isRequestFault) return undefined
  return failure.status === 429 || failure.status === 503 ? failure.retryAfter : undefined
}

/** The vendor's own error that came with a failure. */
export function getVendorError(failure: UpstreamFailure): VendorError | undefined {
  return 'vendor' in failure ? failure.vendor : undefined
}

/** Converts a failure of a provider to the error that the client gets. */
export function toClientError(failure: UpstreamFailure, provider: string): GatewayError {
  const error = toOwnError(failure, provider)
  const upstream = getVendorError(failure)
  return upstream ? error.with({ fields: { upstream } }) : error
}

function toOwnError(failure: UpstreamFailure, provider: string): GatewayError {
  switch (failure.kind) {
    case 'status':
      return statusError(failure, provider)
    case 'timeout':
      return timeoutError(failure.limit, provider)
    case 'network':
      return upstreamError('LM-3003', `provider ${provider} ${describeNetworkFailure(failure)}`)
    case 'malformed':
      return upstreamError(
        'LM-3002',
        `provider ${provider} sent a malformed answer: ${failure.detail}`,
      )
    case 'closed-early':
      return upstreamError(
        'LM-3010',
        failure.lacksDone
          ? `the stream of provider ${provider} ended after its finish reason, but without [DONE]; ${endSetting}`
          : `the stream of provider ${provider} ended before it was complete${bracketCode(failure.reason)}`,
      )
    case 'error-frame':
      return upstreamError(
        'LM-3010',
        `provider ${provider} reported an error in its stream${quoted(failure.message)}`,
      )
    case 'no-credential':
      return upstreamError('LM-3006', failure.message)
    case 'credentials-parked':
      return parkedError(failure, provider)
    case 'circuit-open':
      return new GatewayError('LM-3020', `the circuit of provider ${provider} is open`, {
        retryAfter: failure.retryAfter,
        headers: noRetryHeader,
      })
    case 'no-room':
      // Without `noRetryHeader`: a client that asks again finds room as soon as a call has ended.
      return new GatewayError('LM-3021', `provider ${provider} has no room for another call`, {
        retryAfter: noRoomWait,
      })
    case 'client-cancelled':
      return new GatewayError('LM-6001', 'the client closed the request')
    case 'slow-client':
      return new GatewayError('LM-6001', 'the client read its stream too slowly')
    case 'shutdown':
      return upstreamError('LM-3010', 'the gateway is shutting down')
    case 'abandoned':
      return upstreamError('LM-3003', `the call to provider ${provider} was cancelled`)
    default:
      return failure satisfies never
  }
}

const noRoomWait: Millis = 1_000

const endSetting = 'if its streams always do, set stream_end = "finish" in the profile'

function upstreamError(code: ErrorCode, message: string, more: ErrorDetail = {}): GatewayError {
  return new GatewayError(code, message, { headers: noRetryHeader, ...more })
}

function statusError(
  failure: UpstreamFailure & { kind: 'status' },
  provider: string,
): GatewayError {
  const { status, message, refusal } = failure
  const upstreamStatus = status
  if (refusal !== undefined) {
    const { code, meaning } = refusalErrors[refusal]
    return upstreamError(code, `provider ${provider} ${meaning}${quoted(message)}`, {
      upstreamStatus,
    })
  }
  const retryAfter = getRequestedWait(failure)
  if (status === 429) {
    const text = `provider ${provider} is rate limited${quoted(message)}`
    const headers = failure.isRequestFault ? noRetryHeader : undefined
    return new GatewayError('LM-3001', text, { retryAfter, headers, upstreamStatus })
  }
  if (status === 408) {
    const text = `provider ${provider} reported a timeout${quoted(message)}`
    return upstreamError('LM-3005', text, { upstreamStatus })
  }
  const isClientFault = judgeStatus(status) === 'surface'
  const text = `provider ${provider} refused the request with status ${status}${quoted(message)}`
  return upstreamError('LM-3003', text, {
    status: isClientFault ? status : undefined,
    retryAfter,
    upstreamStatus,
  })
}

const refusalErrors = {
  'prompt-too-long': {
    code: 'LM-2012',
    meaning: 'refused the request because the prompt does not fit the model',
  },
  'content-filter': { code: 'LM-2013', meaning: 'refused the request by its content filter' },
} as const satisfies Record<UpstreamRefusal, { code: ErrorCode; meaning: string }>

function parkedError(
  failure: UpstreamFailure & { kind: 'credentials-parked' },
  provider: string,
): GatewayError {
  const { message, retryAfter } = failure
  const text = `provider ${provider} is rate limited with every credential that it accepts${quoted(message)}`
  return new GatewayError('LM-3001', text, { retryAfter })
}

function timeoutError(limit: TimeLimit, provider: string): GatewayError {
  switch (limit) {
    case 'connect':
      return upstreamError(
        'LM-3012',
        `connecting to provider ${provider} took longer than connect_timeout_ms`,
      )
    case 'first-token':
      return upstreamError(
        'LM-3011',
        `provider ${provider} sent no content within first_token_timeout_ms`,
      )
    case 'read':
      return upstreamError('LM-3011', `provider ${provider} stopped sending data`)
    case 'total':
      return upstreamError('LM-3013', 'the request took longer than total_timeout_ms')
    case 'asked':
      return upstreamError('LM-3013', 'the request took longer than its x-gateway-timeout-ms')
    default:
      return limit satisfies never
  }
}

function quoted(message: string): string {
  return message === '' ? '' : `: ${message}`
}

/** The codes of failures that mean the same after the commit of a stream. */
const streamCodes: ReadonlySet<ErrorCode> = new Set([
  'LM-2012',
  'LM-2013',
  'LM-3010',
  'LM-3013',
  'LM-6001',
])

/** Converts a failure after the commit of a stream. Most failures then become LM-3010. */
export function toStreamError(failure: UpstreamFailure, provider: string): GatewayError {
  // The port may report an earlier phase, but the answer has begun.
  const broken = failure.kind === 'network' ? { ...failure, phase: 'answering' as const } : failure
  const error = toClientError(broken, provider)
  return streamCodes.has(error.code)
    ? error
    : upstreamError('LM-3010', error.message, { fields: error.detail.fields })
}
