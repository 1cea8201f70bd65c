import { errorOf, type UpstreamFailure, verdictOn } from '../core/failure.ts'
import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { Model, Route } from '../core/provider.ts'
import type { Scope } from '../wire/deadline.ts'
import type { BreakerPolicy } from './breaker.ts'
import type { Breakers } from './breakers.ts'
import { chainError, type LinkFailure } from './chain-error.ts'
import { backoff, type RetryPolicy } from './retry.ts'

/** What came of one upstream call. */
export type Attempt<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly failure: UpstreamFailure }

/** What a chain has brought. */
export interface Served<T> {
  readonly value: T
  /** Who served. */
  readonly link: Model
  /** Ends when the client leaves or the total time is over. Whoever takes the value closes it. */
  readonly scope: Scope
  /** To be told when what was served dies on its way: that counts against the provider. */
  readonly died: (failure: UpstreamFailure) => void
}

export interface Resilience {
  readonly retry: RetryPolicy
  readonly breaker: BreakerPolicy
  readonly breakers: Breakers
  /** From 0 up to 1. */
  readonly random: () => number
}

export interface ChainRun<T> {
  readonly route: Route
  readonly scope: Scope
  readonly clock: Clock
  /** When the request arrived, on the clock that never jumps: the total time runs from here. */
  readonly arrived: Millis
  readonly resilience: Resilience
  readonly attempt: (link: Model, scope: Scope) => Promise<Attempt<T>>
}

type LinkOutcome<T> =
  | { readonly ok: true; readonly served: Served<T> }
  | { readonly ok: false; readonly failure: UpstreamFailure; readonly attempts: number }

/**
 * Asks the links of a chain in order until one serves. Throws the `GatewayError` of the end: at
 * once when the request itself is at fault, else when the last link has failed.
 */
export async function runChain<T>(run: ChainRun<T>): Promise<Served<T>> {
  const failures: LinkFailure[] = []
  for (const link of run.route.chain) {
    const outcome = await runLink(run, link)
    if (outcome.ok) return outcome.served
    const { failure, attempts } = outcome
    const surfaces = verdictOn(failure) === 'surface'
    if (surfaces || run.scope.ended) throw errorOf(failure, link.provider.name)
    failures.push({ link, failure, attempts })
  }
  throw chainError(failures)
}

/** All attempts on one link, under the link's own clocks. */
async function runLink<T>(run: ChainRun<T>, link: Model): Promise<LinkOutcome<T>> {
  const { provider } = link
  const scope = run.scope.open()
  const deadline = run.arrived + provider.totalTimeout
  scope.endAfter(deadline - run.clock.elapsed(), { kind: 'timeout', limit: 'total' })
  const stopFirstToken = scope.endAfter(provider.firstTokenTimeout, {
    kind: 'timeout',
    limit: 'first-token',
  })
  const outcome = await runAttempts(run, link, scope)
  stopFirstToken()
  if (!outcome.ok) scope.close()
  return outcome
}

async function runAttempts<T>(
  run: ChainRun<T>,
  link: Model,
  scope: Scope,
): Promise<LinkOutcome<T>> {
  const { retry, breaker: policy, breakers, random } = run.resilience
  const breaker = breakers.of(link)
  for (let attempts = 0; ; ) {
    if (scope.ended) return { ok: false, failure: scope.ended, attempts }
    const permit = breaker.admit(policy)
    if (!permit.admitted) {
      const failure: UpstreamFailure = { kind: 'circuit-open', retryAfter: permit.retryAfter }
      return { ok: false, failure, attempts }
    }
    attempts++
    const result = await run.attempt(link, scope).catch((error: unknown) => {
      permit.abandon()
      scope.close()
      throw error
    })
    if (result.ok) {
      permit.success()
      const died = (failure: UpstreamFailure) => {
        if (isProviderFault(failure)) breaker.fault(policy)
      }
      return { ok: true, served: { value: result.value, link, scope, died } }
    }
    const { failure } = result
    if (isProviderFault(failure)) permit.failure()
    else permit.abandon()
    const given = { ok: false, failure, attempts } as const
    if (verdictOn(failure) !== 'retry') return given
    if (attempts >= retry.maxAttempts || permit.probe || breaker.state !== 'closed') return given
    const floor = failure.kind === 'status' ? (failure.retryAfter ?? 0) : 0
    const wait = Math.max(backoff(retry, attempts, random), floor)
    if (wait >= scope.remaining()) return given
    await scope.sleep(wait)
  }
}

/** Whether a failure speaks against the provider, and so counts for its circuit. */
function isProviderFault(failure: UpstreamFailure): boolean {
  switch (failure.kind) {
    case 'status':
      return verdictOn(failure) !== 'surface'
    case 'timeout':
      return failure.limit !== 'total'
    case 'network':
    case 'malformed':
    case 'closed-early':
    case 'error-frame':
      return true
    case 'no-credential':
    case 'circuit-open':
    case 'client-cancelled':
    case 'slow-client':
    case 'shutdown':
      return false
    default:
      return failure satisfies never
  }
}
