import type { AffinityPolicy } from '../core/affinity.ts'
import type { FallbackCause } from '../core/fallback.ts'
import type { Millis } from '../core/ids.ts'
import type { Model } from '../core/provider.ts'
import type { OfferedRoute, RouteStrategy, SwitchRoute } from '../core/route.ts'
import type { Pace } from './link-traffic.ts'
import type { Traffic } from './traffic.ts'

/** A route of the configuration, and what its strategy knows now. */
export interface RouteReport {
  readonly id: string
  readonly strategy: RouteStrategy | 'switch'
  /** The targets that a switch chooses from, in the order of its cases; undefined for other routes. */
  readonly choices: Choices | undefined
  readonly affinity: AffinityPolicy
  readonly fallbackOn: readonly FallbackCause[] | undefined
  readonly targets: readonly TargetReport[]
  readonly fallbacks: readonly LinkReport[]
}

/** The targets of a switch. */
export interface Choices {
  readonly cases: readonly ReportedCase[]
  /** The id of the target when no case holds. */
  readonly otherwise: string
}

export interface ReportedCase {
  readonly target: string
  /** The names of its conditions: `metadata.team`. */
  readonly conditions: readonly string[]
}

/** A link and the requests that are on it now. */
export interface LinkReport {
  readonly link: Model
  readonly inFlight: number
}

export interface TargetReport extends LinkReport {
  readonly weight: number
  /** How fast it sends the first content of streams. */
  readonly streams: Pace
  /** How fast it sends whole answers. */
  readonly answers: Pace
}

export interface ReportOptions {
  readonly traffic: Pick<Traffic, 'countInFlight' | 'getPace'>
  /** How long a failure counts. */
  readonly cooldown: Millis
}

/** Reports the routes of the configuration; models are left out. */
export function reportRoutes(
  routes: readonly OfferedRoute[],
  { traffic, cooldown }: ReportOptions,
): readonly RouteReport[] {
  const reportLink = (link: Model) => ({ link, inFlight: traffic.countInFlight(link) })
  return routes.flatMap((route): RouteReport[] => {
    if (route.cases) return [reportSwitch(route)]
    const { id, balance, affinity, fallbackOn } = route
    if (!balance) return []
    const { strategy, targets, fallbacks } = balance
    const measured = targets.map(
      ({ model, weight }): TargetReport => ({
        ...reportLink(model),
        weight,
        streams: traffic.getPace(model, { isStream: true, cooldown }),
        answers: traffic.getPace(model, { isStream: false, cooldown }),
      }),
    )
    return [
      {
        id,
        strategy,
        choices: undefined,
        affinity: affinity?.targets ?? noAffinity,
        fallbackOn,
        targets: measured,
        fallbacks: fallbacks.map(reportLink),
      },
    ]
  })
}

const noAffinity: AffinityPolicy = Object.freeze({ mode: 'off', ttl: 0 })

/** Its targets have the rest. */
function reportSwitch({ id, cases, otherwise }: SwitchRoute): RouteReport {
  return {
    id,
    strategy: 'switch',
    choices: {
      cases: cases.map(({ target, conditions }) => ({
        target: target.id,
        conditions: conditions.map(({ name }) => name),
      })),
      otherwise: otherwise.id,
    },
    affinity: noAffinity,
    fallbackOn: undefined,
    targets: [],
    fallbacks: [],
  }
}
