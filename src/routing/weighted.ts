import type { Target } from '../core/route.ts'

/**
 * Puts targets in a random order: each place is drawn among the targets that are left, by weight.
 * Targets with weight 0 follow the others, in an order in which all are equally likely.
 */
export function shuffleByWeight(targets: readonly Target[], random: () => number): Target[] {
  const left = [...targets]
  return targets.map(() => {
    const [drawn] = left.splice(draw(left, random), 1)
    // One target is left for each place.
    return drawn as Target
  })
}

/** Draws the index of a target. */
function draw(targets: readonly Target[], random: () => number): number {
  const total = targets.reduce((sum, { weight }) => sum + weight, 0)
  if (targets.length < 2) return 0
  if (total === 0) return Math.floor(random() * targets.length)
  let rest = random() * total
  for (const [index, { weight }] of targets.entries()) {
    if (rest < weight) return index
    rest -= weight
  }
  // The sum of the differences may be off by a rounding error.
  return targets.findLastIndex(({ weight }) => weight > 0)
}
