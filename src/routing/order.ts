import type { Millis } from '../core/ids.ts'
import type { Model } from '../core/provider.ts'
import type { Balance, Strategy } from '../core/route.ts'
import type { Pace } from './link-traffic.ts'
import type { Traffic } from './traffic.ts'
import { shuffleByWeight } from './weighted.ts'

/** What the order of targets depends on. */
export interface Conditions {
  /** Returns a number from 0 up to 1. */
  readonly random: () => number
  /** True while the circuit of a target lets no call through. */
  readonly isOpen: (target: Model) => boolean
  readonly traffic: Pick<Traffic, 'countInFlight' | 'getPace'>
  readonly isStream: boolean
  /** How long a failure counts. */
  readonly cooldown: Millis
  /** The most that the request may cost on a target. */
  readonly cost: (target: Model) => bigint
}

/**
 * Orders the links of a route for one request: the targets by its strategy, then those that have weight
 * 0, then those whose circuit is open, then the fallbacks. Ties are drawn by weight.
 */
export function orderLinks(
  { strategy, targets, fallbacks }: Balance,
  conditions: Conditions,
): readonly Model[] {
  const { random, isOpen } = conditions
  const ranked = shuffleByWeight(targets, random).map(({ model, weight }) => ({
    model,
    place: (isOpen(model) ? 2 : 0) + (weight === 0 ? 1 : 0),
    score: score(strategy, model, conditions),
  }))
  ranked.sort((a, b) => a.place - b.place || compare(a.score, b.score))
  return [...ranked.map(({ model }) => model), ...fallbacks]
}

/** The targets with the lowest score come first. */
function score(strategy: Strategy, target: Model, conditions: Conditions): number | bigint {
  switch (strategy) {
    case 'weighted':
      return 0
    case 'fastest':
      return scorePace(conditions.traffic.getPace(target, conditions))
    case 'cheapest':
      return conditions.cost(target)
    case 'least_busy':
      return conditions.traffic.countInFlight(target)
    default:
      return strategy satisfies never
  }
}

function scorePace(pace: Pace): number {
  switch (pace.kind) {
    case 'new':
      return -1
    case 'measured':
      return pace.average
    case 'being-measured':
      return longest
    case 'failed':
      return longest + 1
    default:
      return pace satisfies never
  }
}

/** Longer than any request. */
const longest = 2 ** 40

function compare(a: number | bigint, b: number | bigint): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
