import { judgeFailure, toClientError, type UpstreamFailure } from '../core/failure.ts'
import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { Model } from '../core/provider.ts'
import type { UntranslatableError } from '../core/untranslatable-error.ts'
import type { CancelScope } from '../wire/cancel-scope.ts'
import type { Attempt, CallResult, RecordedRequest } from './attempt.ts'
import { createChainError, type LinkFailure } from './chain-error.ts'
import { isProviderFault, type LinkOutcome, type Resilience, retryLink } from './retry-link.ts'

/** What the chain needs to know of a request. */
export interface ChainRequest extends RecordedRequest {
  /** Returns the links in the order in which to try them. Called once, when the first one is tried. */
  orderLinks(): readonly Model[]
  readonly scope: CancelScope
  readonly clock: Clock
  /** When the request arrived, on the clock that never jumps. The total timeout runs from here. */
  readonly arrived: Millis
  readonly resilience: Resilience
  /** True when the next link is tried although the request itself is at fault. */
  goesOnAfter(link: Model, failure: UpstreamFailure): boolean
  /**
   * Takes a place at a link that limits its calls at once, until the request leaves the link. False when it has no
   * room.
   */
  enter(link: Model): boolean | Promise<boolean>
  /** Takes up to `count` further places at a link that was entered. Returns their number. */
  enterMore(link: Model, count: number): number | Promise<number>
  /**
   * Waits for a place at one of these links, and enters it. Resolves to undefined when none has a place in time.
   * Rejects with the `GatewayError` for the client when the request ends meanwhile.
   */
  awaitRoom(links: readonly Model[]): Promise<Model | undefined>
  /** Called when a link is about to be tried. */
  onLinkStart(link: Model): void
  /** Called when the link has answered: the first content of a stream, or a whole answer, is there. */
  onServed(link: Model): void
  /** Called for each link that did not serve. */
  onLinkFailure(failure: LinkFailure): void
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

export type SkipReason = UntranslatableError | undefined

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
  const failures: LinkFailure[] = []
  let full: readonly Model[] = []
  let mayCallAgain = true
  const addFailure = (failure: LinkFailure) => {
    failures.push(failure)
    request.onLinkFailure(failure)
  }
  /** Resolves to undefined when the link does not serve. */
  const call = async (link: Model): Promise<Served<T> | undefined> => {
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
      for (const passed of full) request.onLinkFailure(noRoom(passed))
      request.onServed(link)
      return {
        value: outcome.value,
        link,
        scope,
        reportEnd: createEndReporter(request.resilience, link),
      }
    }
    scope.close()
    const { failure, attempts } = outcome
    addFailure({ link, failure, attempts })
    const surfaces = judgeFailure(failure) === 'surface' && !request.goesOnAfter(link, failure)
    mayCallAgain = surfaces || (await request.mayCallAgain)
    if (surfaces || request.scope.ended) throw toClientError(failure, link.provider.name)
    return undefined
  }
  const { breakers } = request.resilience
  for (const link of request.orderLinks()) {
    const explained = explainSkip?.(link)
    const untranslatable = explained instanceof Promise ? await explained : explained
    if (untranslatable) {
      addFailure({ link, untranslatable })
      continue
    }
    if (link.room) {
      const entering = request.enter(link)
      if (!(entering instanceof Promise ? await entering : entering)) {
        full = [...full, link]
        continue
      }
    }
    const served = await call(link)
    if (served) return served
    if (!mayCallAgain) break
  }
  for (;;) {
    if (full.length === 0 || !mayCallAgain) break
    const link = await request.awaitRoom(full.filter((each) => !breakers.isOpen(each)))
    if (!link) break
    full = full.filter((each) => each !== link)
    // Another link may have been prepared since.
    await explainSkip?.(link)
    const served = await call(link)
    if (served) return served
  }
  for (const link of full) addFailure(noRoom(link))
  throw createChainError(failures)
}

function noRoom(link: Model): LinkFailure {
  return { link, failure: noRoomLeft, attempts: 0 }
}

const noRoomLeft = Object.freeze({ kind: 'no-room' } as const)

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
