import { judgeFailure, type UpstreamFailure } from '../core/failure.ts'
import { isOutOfFiles } from '../core/network-failure.ts'
import type { Model } from '../core/provider.ts'
import { type CancelScope, timerResolution } from '../wire/cancel-scope.ts'
import { type Attempt, type CallResult, makeAttempt, type RecordedRequest } from './attempt.ts'
import type { Breakers } from './breakers.ts'
import type { BreakerPolicy } from './circuit.ts'
import type { Credentials } from './credentials.ts'
import { backoff, type LinkRetryPolicy } from './retry.ts'

export interface Resilience {
  readonly retry: LinkRetryPolicy
  readonly breaker: BreakerPolicy
  readonly breakers: Breakers
  readonly credentials: Credentials
  /** Returns a number from 0 up to 1, for the jitter of retries. */
  readonly random: () => number
}

export interface RetriedRequest extends RecordedRequest {
  readonly resilience: Resilience
}

export interface RetriedCall<T> {
  readonly link: Model
  /** Bounds all attempts together. */
  readonly scope: CancelScope
  /** Makes one upstream call. */
  readonly call: (attempt: Attempt) => Promise<CallResult<T>>
}

/** The outcome of all attempts on one link. `attempts` counts their calls. */
export type LinkOutcome<T> =
  | { readonly ok: true; readonly value: T; readonly attempts: number }
  | { readonly ok: false; readonly failure: UpstreamFailure; readonly attempts: number }

/**
 * Calls one link until it answers, its circuit opens, the retry policy or the time is exhausted, or a
 * failure occurs that a retry cannot mend.
 */
export async function retryLink<T>(
  request: RetriedRequest,
  { link, scope, call }: RetriedCall<T>,
): Promise<LinkOutcome<T>> {
  const { retry, breaker: policy, breakers, credentials, random } = request.resilience
  const breaker = breakers.get(link)
  let mayResend = true
  let attempts = 0
  for (let tries = 1; ; tries++) {
    const ended = scope.expire()
    if (ended) return { ok: false, failure: ended, attempts }
    const decision = breaker.admit(policy)
    // Without a wait unless the circuit is half-open.
    const permit = decision instanceof Promise ? await decision : decision
    if (!permit.admitted) {
      const failure: UpstreamFailure = { kind: 'circuit-open', retryAfter: permit.retryAfter }
      return { ok: false, failure, attempts }
    }
    let result: CallResult<T>
    try {
      const made = await makeAttempt({
        request,
        credentials,
        link,
        scope,
        mayResend,
        resends: attempts,
        call,
      })
      result = made.result
      attempts += made.calls
    } catch (error) {
      permit.abandon()
      throw error
    }
    if (result.resent) mayResend = false
    if (result.ok) {
      if (result.opened) permit.opened()
      else permit.success()
      return { ok: true, value: result.value, attempts }
    }
    const { failure } = result
    if (isProviderFault(failure)) permit.failure()
    else permit.abandon()
    const outcome = { ok: false, failure, attempts } as const
    if (judgeFailure(failure) !== 'retry' || !(await request.mayCallAgain)) return outcome
    if (tries >= retry.maxAttempts || permit.isProbe || breaker.state !== 'closed') return outcome
    const minWait = failure.kind === 'status' ? (failure.retryAfter ?? 0) : 0
    if (minWait > retry.maxRetryAfter) return outcome
    const wait = Math.max(backoff(retry, tries, random), minWait)
    if (scope.remaining() - wait < timerResolution) return outcome
    await scope.sleep(wait)
  }
}

/** True when a failure is the provider's fault, and so counts for its circuit. */
export function isProviderFault(failure: UpstreamFailure): boolean {
  switch (failure.kind) {
    case 'status':
      return !failure.isRequestFault && judgeFailure(failure) !== 'surface'
    case 'timeout':
      return failure.limit !== 'total' && failure.limit !== 'asked'
    case 'network':
      return !isOutOfFiles(failure)
    // The client has the whole answer.
    case 'closed-early':
      return !failure.lacksDone
    case 'malformed':
    case 'error-frame':
      return true
    case 'no-credential':
    case 'credentials-parked':
    case 'circuit-open':
    case 'no-room':
    case 'client-cancelled':
    case 'slow-client':
    case 'shutdown':
    case 'abandoned':
      return false
    default:
      return failure satisfies never
  }
}
