import type { Model } from '../core/provider.ts'
import type { Balance } from '../core/route.ts'
import { shuffleByWeight } from './weighted.ts'

/** What the order of targets depends on. */
export interface Conditions {
  /** Returns a number from 0 up to 1. */
  readonly random: () => number
  /** True while the circuit of a target lets no call through. */
  readonly isOpen: (target: Model) => boolean
}

/**
 * Orders the links of a route for one request: the targets by its strategy, then those that have weight
 * 0, then those whose circuit is open, then the fallbacks. Ties are drawn by weight.
 */
export function orderLinks(
  { targets, fallbacks }: Balance,
  { random, isOpen }: Conditions,
): readonly Model[] {
  const ranked = shuffleByWeight(targets, random).map(({ model, weight }) => ({
    model,
    place: (isOpen(model) ? 2 : 0) + (weight === 0 ? 1 : 0),
  }))
  ranked.sort((a, b) => a.place - b.place)
  return [...ranked.map(({ model }) => model), ...fallbacks]
}
