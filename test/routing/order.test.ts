import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Model } from '../../src/core/provider.ts'
import type { RouteStrategy } from '../../src/core/route.ts'
import { type Conditions, orderLinks } from '../../src/routing/index.ts'
import { randomFrom } from '../support/seeded-random.ts'
import { makeBalance, makeConditions } from './support.ts'

type Pace = ReturnType<Conditions['traffic']['getPace']>

/** One target, with everything that its place may depend on. */
interface Case {
  readonly weight: number
  readonly isOpen: boolean
  readonly inFlight: number
  readonly pace: Pace
  readonly cost: number
}

const paces: fc.Arbitrary<Pace> = fc.oneof(
  fc.constantFrom<Pace>({ kind: 'new' }, { kind: 'being-measured' }, { kind: 'failed' }),
  fc.integer({ min: 0, max: 5 }).map((average): Pace => ({ kind: 'measured', average })),
)

const cases: fc.Arbitrary<readonly Case[]> = fc
  .array(
    fc.record({
      weight: fc.integer({ min: 0, max: 3 }),
      isOpen: fc.boolean(),
      inFlight: fc.integer({ min: 0, max: 3 }),
      pace: paces,
      cost: fc.integer({ min: 0, max: 3 }),
    }),
    { minLength: 1, maxLength: 6 },
  )
  .filter((targets) => targets.some(({ weight }) => weight > 0))

function toConditions(targets: readonly Case[], random: () => number): Conditions {
  const find = ({ id }: Model): Case => {
    const target = targets[Number(id)]
    if (!target) throw new Error('only targets are asked for')
    return target
  }
  return makeConditions({
    random,
    isOpen: (target) => find(target).isOpen,
    traffic: {
      countInFlight: (target) => find(target).inFlight,
      getPace: (target) => find(target).pace,
    },
    cost: (target) => BigInt(find(target).cost),
  })
}

/** The plain model: what is compared, in this order. */
const rules: Readonly<Record<RouteStrategy, (target: Case) => readonly number[]>> = {
  weighted: () => [],
  fastest: ({ pace }) => [
    ['new', 'measured', 'being-measured', 'failed'].indexOf(pace.kind),
    pace.kind === 'measured' ? pace.average : 0,
  ],
  cheapest: ({ cost }) => [cost],
  least_busy: ({ inFlight }) => [inFlight],
}

function toKey(strategy: RouteStrategy, target: Case): readonly number[] {
  return [Number(target.isOpen), Number(target.weight === 0), ...rules[strategy](target)]
}

function compare(a: readonly number[], b: readonly number[]): number {
  const at = a.findIndex((value, index) => value !== b[index])
  return at < 0 ? 0 : (a[at] ?? 0) - (b[at] ?? 0)
}

describe.each(['weighted', 'fastest', 'cheapest', 'least_busy'] as const)('%s', (strategy) => {
  test('the order is that of a plain model: circuit, weight 0, then the strategy', () => {
    const random = randomFrom(11)
    fc.assert(
      fc.property(cases, (targets) => {
        const weights = targets.map(({ weight }) => weight)
        const links = orderLinks(makeBalance(weights, strategy), toConditions(targets, random))
        const ids = links.map(({ id }) => String(id))
        expect(ids.at(-1)).toBe('f')
        const order = ids.slice(0, -1).map(Number)
        expect(order.toSorted((a, b) => a - b)).toEqual(targets.map((_, at) => at))
        const keys = order.map((at) => toKey(strategy, targets[at] as Case))
        expect(keys).toEqual(keys.toSorted(compare))
      }),
      { numRuns: 3_000 },
    )
  })

  test('ties are drawn by weight', () => {
    const random = randomFrom(13)
    const counts = [0, 0, 0]
    for (let draw = 0; draw < 8_000; draw++) {
      const [first] = orderLinks(makeBalance([1, 2, 1], strategy), makeConditions({ random }))
      counts[Number(first?.id)] = (counts[Number(first?.id)] ?? 0) + 1
    }
    // Five standard deviations are 194 and 224.
    for (const [at, expected] of [2_000, 4_000, 2_000].entries()) {
      expect(Math.abs((counts[at] ?? 0) - expected)).toBeLessThan(225)
    }
  })
})
