import type { Millis } from '../core/ids.ts'
import type { Model } from '../core/provider.ts'
import type { Balance, RouteStrategy } from '../core/route.ts'
import type { Pace } from './link-traffic.ts'
import type { Traffic } from './traffic.ts'

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
  /** The id of the target that has served the session; undefined without one. */
  readonly pinned?: string | undefined
}

/** A target with what decides its place in the order: the lowest numbers come first. */
interface Ranked {
  readonly model: Model
  /** Targets that take a call now, then those with weight 0, then those whose circuit is open. */
  readonly place: number
  readonly score: number | bigint
  /** Breaks ties. */
  readonly draw: number
}

/**
 * Orders the links of a route for one request: the targets by its strategy, then those that have weight
 * 0, then those whose circuit is open, then the fallbacks. Ties are drawn by weight. The target of the session
 * comes before the others that take a call now.
 */
export function orderLinks(
  { strategy, targets, fallbacks }: Balance,
  conditions: Conditions,
): readonly Model[] {
  const { random, isOpen, pinned } = conditions
  const ranked = targets.map(
    ({ model, weight }): Ranked => ({
      model,
      place: (isOpen(model) ? 2 : 0) + (weight === 0 ? 1 : 0),
      score: score(strategy, model, conditions),
      draw: drawByWeight(weight, random),
    }),
  )
  ranked.sort(compareRanked)
  if (pinned !== undefined) moveToFront(ranked, pinned)
  const links = ranked.map(({ model }) => model)
  return fallbacks.length === 0 ? links : [...links, ...fallbacks]
}

/** A target of weight 0, or with an open circuit, keeps its place. */
function moveToFront(ranked: Ranked[], pinned: string): void {
  const at = ranked.findIndex(({ model, place }) => model.id === pinned && place === 0)
  if (at > 0) ranked.unshift(...ranked.splice(at, 1))
}

/**
 * Draws the time to the next event of a process with rate `weight`: in the order of these times, each place
 * is drawn by weight among the targets that are left. Those of weight 0 are drawn among themselves.
 * https://en.wikipedia.org/wiki/Exponential_distribution#Distribution_of_the_minimum_of_exponential_random_variables
 */
function drawByWeight(weight: number, random: () => number): number {
  return -Math.log(1 - random()) / (weight === 0 ? 1 : weight)
}

function compareRanked(a: Ranked, b: Ranked): number {
  return a.place - b.place || compareScores(a.score, b.score) || a.draw - b.draw
}

/** The targets with the lowest score come first. */
function score(strategy: RouteStrategy, target: Model, conditions: Conditions): number | bigint {
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

function compareScores(a: number | bigint, b: number | bigint): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
