import * as fc from 'fast-check'

/** Merges lists at random, each in its order. */
export function interleave(lists: readonly object[][]): fc.Arbitrary<object[]> {
  const order = lists.flatMap((list, at) => list.map(() => at))
  return fc.shuffledSubarray(order, { minLength: order.length }).map((picks) => {
    const rest = lists.map((list) => [...list])
    return picks.map((at) => rest[at]?.shift() ?? {})
  })
}
