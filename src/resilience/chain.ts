import type { UntranslatableError } from '../core/cannot-express.ts'
import { errorOf, type UpstreamFailure, verdictOn } from '../core/failure.ts'
import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { Model, ModelRoute } from '../core/provider.ts'
import type { CancelScope } from '../wire/cancel-scope.ts'
import { chainError, type LostLink } from './chain-error.ts'
import {
  type AttemptContext,
  type CallResult,
  isProviderFault,
  type LinkOutcome,
  type Resilience,
  retryLink,
} from './retry-link.ts'

/** What a chain has brought. */
export interface Served<T> {
  readonly value: T
  /** Who served. */
  readonly link: Model
  /** Ends when the client leaves or the total time is over. Whoever takes the value closes it. */
  readonly scope: CancelScope
  /** To be told of the end of a stream that was served: its death counts against the provider. */
  readonly over: (failure: UpstreamFailure | undefined) => void
}

/** What every way through a chain needs. */
export interface ChainSetting {
  readonly route: ModelRoute
  readonly scope: CancelScope
  readonly clock: Clock
  /** When the request arrived, on the clock that never jumps: the total time runs from here. */
  readonly arrived: Millis
  readonly resilience: Resilience
  /** Why a link cannot send the request. Asked once for each link, before its circuit. */
  readonly whyUnable: ((link: Model) => UntranslatableError | undefined) | undefined
  /** Called for each link that did not serve. */
  readonly onLost: (lost: LostLink) => void
}

/** Asks a link, under a scope with that link's clocks. */
export type Ask<T> = (link: Model, scope: CancelScope) => Promise<LinkOutcome<T>>

/** Asks the links of a chain in order, each as often as the policy says, until one answers. */
export function runChain<T>(
  setting: ChainSetting,
  attempt: (context: AttemptContext) => Promise<CallResult<T>>,
): Promise<Served<T>> {
  const { resilience } = setting
  return overLinks(setting, (link, scope) => retryLink(resilience, { link, scope, attempt }))
}

/**
 * Asks the links of a chain in order until one serves, and passes over those that cannot express the
 * request. Throws the `GatewayError` of the end: at once when the request itself is at fault, else
 * when no link is left.
 */
export async function overLinks<T>(setting: ChainSetting, ask: Ask<T>): Promise<Served<T>> {
  const all: LostLink[] = []
  const lose = (lost: LostLink) => {
    all.push(lost)
    setting.onLost(lost)
  }
  for (const link of setting.route.chain) {
    const unable = setting.whyUnable?.(link)
    if (unable) {
      lose({ link, unable })
      continue
    }
    const scope = setting.scope.open()
    const stopFirstToken = setClocks(setting, link, scope)
    let outcome: LinkOutcome<T>
    try {
      outcome = await ask(link, scope)
    } catch (error) {
      scope.close()
      throw error
    }
    stopFirstToken()
    if (outcome.ok) {
      return { value: outcome.value, link, scope, over: verdictOnEnd(setting.resilience, link) }
    }
    scope.close()
    const { failure, attempts } = outcome
    lose({ link, failure, attempts })
    const surfaces = verdictOn(failure) === 'surface'
    if (surfaces || setting.scope.ended) throw errorOf(failure, link.provider.name)
  }
  throw chainError(all)
}

/** Sets the link's clocks on its scope. Returns the way to stop that of the first token. */
function setClocks({ arrived, clock }: ChainSetting, link: Model, scope: CancelScope): () => void {
  const { totalTimeout, firstTokenTimeout } = link.provider
  scope.endAfter(arrived + totalTimeout - clock.elapsed(), totalTimeoutFired)
  return scope.endAfter(firstTokenTimeout, firstTokenTimeoutFired)
}

const totalTimeoutFired = Object.freeze({ kind: 'timeout', limit: 'total' } as const)
const firstTokenTimeoutFired = Object.freeze({ kind: 'timeout', limit: 'first-token' } as const)

function verdictOnEnd({ breaker, breakers }: Resilience, link: Model): Served<unknown>['over'] {
  return (failure) => {
    if (!failure) breakers.of(link).recover()
    else if (isProviderFault(failure)) breakers.of(link).fault(breaker)
  }
}
