import { judgeFailure, type UpstreamFailure } from '../core/failure.ts'
import { isOutOfFiles } from '../core/network-failure.ts'
import type { Model } from '../core/provider.ts'
import { type CancelScope, timerResolution } from '../wire/cancel-scope.ts'
import type { BreakerPolicy } from './breaker.ts'
import type { Breakers } from './breakers.ts'
import { backoff, type LinkRetryPolicy } from './retry.ts'

/** The outcome of one upstream call. */
export type CallResult<T> =
  /** `opened`: the value is a stream that has only begun, and may still fail. */
  | (Resent & { readonly ok: true; readonly value: T; readonly opened?: true })
  | (Resent & { readonly ok: false; readonly failure: UpstreamFailure })

interface Resent {
  /** The request was sent twice, because the first connection was lost at once. */
  readonly resent?: true
}

/** One upstream call that is to be made. */
export interface Attempt {
  readonly link: Model
  /** May end the call at any point. */
  readonly scope: CancelScope
  /** False once an earlier attempt on the link has been resent. */
  readonly mayResend: boolean
}

export interface Resilience {
  readonly retry: LinkRetryPolicy
  readonly breaker: BreakerPolicy
  readonly breakers: Breakers
  /** Returns a number from 0 up to 1, for the jitter of retries. */
  readonly random: () => number
}

/** A request whose attempts are recorded. */
export interface RetriedRequest {
  readonly resilience: Resilience
  /** Called after each attempt. */
  onAttempt(link: Model, result: CallResult<unknown>): void
}

export interface LinkCall<T> {
  readonly link: Model
  /** Bounds all attempts together. */
  readonly scope: CancelScope
  /** Makes one upstream call. */
  readonly call: (attempt: Attempt) => Promise<CallResult<T>>
}

/** The outcome of all attempts on one link. */
export type LinkOutcome<T> =
  | { readonly ok: true; readonly value: T; readonly attempts: number }
  | { readonly ok: false; readonly failure: UpstreamFailure; readonly attempts: number }

/**
 * Calls one link until it answers, its circuit opens, the retry policy or the time is exhausted, or a
 * failure occurs that a retry cannot mend.
 */
export async function retryLink<T>(
  request: RetriedRequest,
  { link, scope, call }: LinkCall<T>,
): Promise<LinkOutcome<T>> {
  const { retry, breaker: policy, breakers, random } = request.resilience
  const breaker = breakers.get(link)
  let mayResend = true
  for (let attempts = 0; ; ) {
    const ended = scope.expire()
    if (ended) return { ok: false, failure: ended, attempts }
    const permit = breaker.admit(policy)
    if (!permit.admitted) {
      const failure: UpstreamFailure = { kind: 'circuit-open', retryAfter: permit.retryAfter }
      return { ok: false, failure, attempts }
    }
    attempts++
    let result: CallResult<T>
    try {
      result = await call({ link, scope, mayResend })
      request.onAttempt(link, result)
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
    // Without a credential no call was made.
    if (failure.kind === 'no-credential') attempts--
    const outcome = { ok: false, failure, attempts } as const
    if (judgeFailure(failure) !== 'retry') return outcome
    if (attempts >= retry.maxAttempts || permit.isProbe || breaker.state !== 'closed')
      return outcome
    const minWait = failure.kind === 'status' ? (failure.retryAfter ?? 0) : 0
    if (minWait > retry.maxRetryAfter) return outcome
    const wait = Math.max(backoff(retry, attempts, random), minWait)
    if (scope.remaining() - wait < timerResolution) return outcome
    await scope.sleep(wait)
  }
}

/** True when a failure is the provider's fault, and so counts for its circuit. */
export function isProviderFault(failure: UpstreamFailure): boolean {
  switch (failure.kind) {
    case 'status':
      return judgeFailure(failure) !== 'surface'
    case 'timeout':
      return failure.limit !== 'total'
    case 'network':
      return !isOutOfFiles(failure)
    case 'malformed':
    case 'closed-early':
    case 'error-frame':
      return true
    case 'no-credential':
    case 'circuit-open':
    case 'client-cancelled':
    case 'slow-client':
    case 'shutdown':
    case 'abandoned':
      return false
    default:
      return failure satisfies never
  }
}
