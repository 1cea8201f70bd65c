import { judgeFailure, toClientError, type UpstreamFailure } from '../core/failure.ts'
import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { Model } from '../core/provider.ts'
import type { CancelScope } from '../wire/cancel-scope.ts'
import type { Attempt, CallResult, RecordedRequest } from './attempt.ts'
import { createChainError } from './chain-error.ts'
import { LinkQueue, type QueuedRequest, type SkipReason } from './link-queue.ts'
import { isProviderFault, type LinkOutcome, type Resilience, retryLink } from './retry-link.ts'

/** What the chain needs to know of a request. */
export interface ChainRequest extends RecordedRequest, QueuedRequest {
  readonly scope: CancelScope
  readonly clock: Clock
  /** When the request arrived, on the clock that never jumps. The total timeout runs from here. */
  readonly arrived: Millis
  readonly resilience: Resilience
  /** True when the next link is tried although the request itself is at fault. */
  goesOnAfter(link: Model, failure: UpstreamFailure): boolean
  /** Takes up to `count` further places at a link that was entered. Returns their number. */
  enterMore(link: Model, count: number): number | Promise<number>
  /** Called when a link is about to be tried. */
  onLinkStart(link: Model): void
  /** Called when the link has answered: the first content of a stream, or a whole answer, is there. */
  onServed(link: Model): void
}

/** How the request is sent to one link. */
export interface ChainCall<T> {
  /**
   * Returns why a link must be skipped, if it must; a promise where that takes long. Called for each link before its
   * circuit, and again when the request has waited for it.
   */
  readonly explainSkip?: ((link: Model) => SkipReason | Promise<SkipReason>) | undefined
  /** Makes one upstream call. */
  readonly call: (attempt: Attempt) => Promise<CallResult<T>>
}

/** The value that a chain has served. */
export interface Served<T> {
  readonly value: T
  /** The link that served. */
  readonly link: Model
  /** Ends when the client leaves or the total timeout fires. The receiver of the value closes it. */
  readonly scope: CancelScope
  /** To be called at the end of a served stream: its failure counts against the provider. */
  readonly reportEnd: (failure: UpstreamFailure | undefined) => void
}

/** Calls the links of a chain in order, each as often as the policy allows, until one serves. */
export function runChain<T>(
  request: ChainRequest,
  { explainSkip, call }: ChainCall<T>,
): Promise<Served<T>> {
  return tryLinks(request, {
    explainSkip,
    tryLink: (link, scope) => retryLink(request, { link, scope, call }),
  })
}

export interface LinkTrial<T> extends Pick<ChainCall<T>, 'explainSkip'> {
  /** Makes all attempts on one link, under a scope that has the link's timeouts. */
  readonly tryLink: (link: Model, scope: CancelScope) => Promise<LinkOutcome<T>>
}

/**
 * Tries the links of a chain in order until one serves. Skips those that cannot express the request, and passes over
 * those without room: when no other one serves, it waits for them. Throws the `GatewayError` for the client: at once
 * when the request itself is at fault, otherwise when no link is left.
 */
export async function tryLinks<T>(
  request: ChainRequest,
  { explainSkip, tryLink }: LinkTrial<T>,
): Promise<Served<T>> {
  const links = new LinkQueue(request, explainSkip)
  for (;;) {
    const taking = links.take()
    const link = taking instanceof Promise ? await taking : taking
    if (!link) break
    request.onLinkStart(link)
    const scope = request.scope.open()
    const stopFirstToken = startTimeouts(request, link, scope)
    let outcome: LinkOutcome<T>
    try {
      outcome = await tryLink(link, scope)
    } catch (error) {
      scope.close()
      throw error
    }
    stopFirstToken()
    if (outcome.ok) {
      links.failFull()
      request.onServed(link)
      const reportEnd = createEndReporter(request.resilience, link)
      return { value: outcome.value, link, scope, reportEnd }
    }
    scope.close()
    const { failure, attempts } = outcome
    links.fail({ link, failure, attempts })
    const surfaces = judgeFailure(failure) === 'surface' && !request.goesOnAfter(link, failure)
    const mayCallAgain = surfaces || (await request.mayCallAgain)
    if (surfaces || request.scope.ended) throw toClientError(failure, link.provider.name)
    if (!mayCallAgain) break
  }
  links.failFull()
  throw createChainError(links.failures)
}

/** Starts the link's timeouts on its scope. Returns a function that stops the first-token timeout. */
function startTimeouts(
  { arrived, clock }: ChainRequest,
  link: Model,
  scope: CancelScope,
): () => void {
  const { totalTimeout, firstTokenTimeout } = link.provider
  scope.endAfter(arrived + totalTimeout - clock.elapsed(), totalTimeoutFired)
  return scope.endAfter(firstTokenTimeout, firstTokenTimeoutFired)
}

const totalTimeoutFired = Object.freeze({ kind: 'timeout', limit: 'total' } as const)
const firstTokenTimeoutFired = Object.freeze({ kind: 'timeout', limit: 'first-token' } as const)

/** Reports the end of a stream to the link's breaker. */
function createEndReporter(
  { breaker, breakers }: Resilience,
  link: Model,
): Served<unknown>['reportEnd'] {
  return (failure) => {
    if (!failure) breakers.get(link).recover()
    else if (isProviderFault(failure)) breakers.get(link).fault(breaker)
  }
}
