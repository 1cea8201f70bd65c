import { type UpstreamFailure, verdictOn } from '../core/failure.ts'
import { isOutOfFiles } from '../core/network-failure.ts'
import type { Model } from '../core/provider.ts'
import { type CancelScope, timerResolution } from '../wire/cancel-scope.ts'
import type { BreakerPolicy } from './breaker.ts'
import type { Breakers } from './breakers.ts'
import { backoff, type LinkRetryPolicy } from './retry.ts'

/** What came of one upstream call. */
export type CallResult<T> =
  /** `opened`: the value is a stream that has only begun, and may still die. */
  | (Resent & { readonly ok: true; readonly value: T; readonly opened?: true })
  | (Resent & { readonly ok: false; readonly failure: UpstreamFailure })

interface Resent {
  /** The request went out twice, since the connection of the first time was lost at once. */
  readonly resent?: true
}

/** What one upstream call is made with. */
export interface AttemptContext {
  readonly link: Model
  /** May end the call at any point. */
  readonly scope: CancelScope
  /** False when an earlier attempt on the link has been resent. */
  readonly mayResend: boolean
}

export interface Resilience {
  readonly retry: LinkRetryPolicy
  readonly breaker: BreakerPolicy
  readonly breakers: Breakers
  /** From 0 up to 1. */
  readonly random: () => number
}

export interface Attempts<T> {
  readonly link: Model
  /** Bounds all attempts together. */
  readonly scope: CancelScope
  readonly attempt: (context: AttemptContext) => Promise<CallResult<T>>
}

/** What a link has made of its attempts. */
export type LinkOutcome<T> =
  | { readonly ok: true; readonly value: T; readonly attempts: number }
  | { readonly ok: false; readonly failure: UpstreamFailure; readonly attempts: number }

/** Calls one link until it answers, its circuit opens, or the policy, the time or the hope is over. */
export async function retryLink<T>(
  { retry, breaker: policy, breakers, random }: Resilience,
  { link, scope, attempt }: Attempts<T>,
): Promise<LinkOutcome<T>> {
  const breaker = breakers.of(link)
  let mayResend = true
  for (let attempts = 0; ; ) {
    const over = scope.expire()
    if (over) return { ok: false, failure: over, attempts }
    const permit = breaker.admit(policy)
    if (!permit.admitted) {
      const failure: UpstreamFailure = { kind: 'circuit-open', retryAfter: permit.retryAfter }
      return { ok: false, failure, attempts }
    }
    attempts++
    let result: CallResult<T>
    try {
      result = await attempt({ link, scope, mayResend })
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
    // Without a credential nobody was called.
    if (failure.kind === 'no-credential') attempts--
    const given = { ok: false, failure, attempts } as const
    if (verdictOn(failure) !== 'retry') return given
    if (attempts >= retry.maxAttempts || permit.probe || breaker.state !== 'closed') return given
    const floor = failure.kind === 'status' ? (failure.retryAfter ?? 0) : 0
    if (floor > retry.maxRetryAfter) return given
    const wait = Math.max(backoff(retry, attempts, random), floor)
    if (scope.remaining() - wait < timerResolution) return given
    await scope.sleep(wait)
  }
}

/** Whether a failure speaks against the provider, and so counts for its circuit. */
export function isProviderFault(failure: UpstreamFailure): boolean {
  switch (failure.kind) {
    case 'status':
      return verdictOn(failure) !== 'surface'
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
