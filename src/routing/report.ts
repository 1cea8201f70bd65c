import type { AffinityPolicy } from '../core/affinity.ts'
import type { FallbackCause } from '../core/fallback.ts'
import type { Millis } from '../core/ids.ts'
import type { Model } from '../core/provider.ts'
import type { ModelRoute, RouteStrategy } from '../core/route.ts'
import type { Pace } from './link-traffic.ts'
import type { Traffic } from './traffic.ts'

/** A route of the configuration, and what its strategy knows now. */
export interface RouteReport {
  readonly id: string
  readonly strategy: RouteStrategy
  readonly affinity: AffinityPolicy
  readonly fallbackOn: readonly FallbackCause[] | undefined
  readonly targets: readonly TargetReport[]
  readonly fallbacks: readonly LinkReport[]
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
  routes: readonly ModelRoute[],
  { traffic, cooldown }: ReportOptions,
): readonly RouteReport[] {
  const reportLink = (link: Model) => ({ link, inFlight: traffic.countInFlight(link) })
  return routes.flatMap(({ id, balance, affinity, fallbackOn }): RouteReport[] => {
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
        affinity: affinity?.targets ?? { mode: 'off', ttl: 0 },
        fallbackOn,
        targets: measured,
        fallbacks: fallbacks.map(reportLink),
      },
    ]
  })
}
