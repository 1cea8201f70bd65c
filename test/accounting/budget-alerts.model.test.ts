import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { BudgetAlerts } from '../../src/accounting/index.ts'
import type { NanoUsd } from '../../src/core/ids.ts'
import { ManualClock } from '../support/manual-clock.ts'

/** The events of a budget. Amounts are small, so that spend often equals a percentage exactly. */
type Step =
  | { readonly kind: 'charge'; readonly amount: number }
  | { readonly kind: 'refusal' }
  | { readonly kind: 'admission' }
  | { readonly kind: 'wait'; readonly seconds: number }
  | { readonly kind: 'cap'; readonly max: number | null }
  | { readonly kind: 'percentages'; readonly percentages: readonly number[] }
  | { readonly kind: 'reset' }
  | { readonly kind: 'restart' }

const percentages = fc
  .uniqueArray(fc.integer({ min: 1, max: 100 }), { maxLength: 5 })
  .map((list) => list.toSorted((a, b) => a - b))

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ kind: fc.constant('charge'), amount: fc.integer({ min: -5, max: 30 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('refusal') }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('admission') }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('wait'),
      seconds: fc.integer({ min: 1, max: 90 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      kind: fc.constant('cap'),
      max: fc.option(fc.integer({ min: 0, max: 200 })),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('percentages'), percentages }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('reset') }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('restart') }) },
)

/** The rules in their simplest form: one flag for each of the hundred percentages. */
class Model {
  spent = 0
  max: number | null = 100
  now = 0
  readonly #fired = new Set<number>()
  /** The time of the last exhaustion event; undefined after a grant gave headroom. */
  #firedAt: number | undefined
  #isAdmitted = false

  isPassed(percentage: number): boolean {
    return this.max !== null && this.spent > 0 && this.spent * 100 >= percentage * this.max
  }

  charge(amount: number, configured: readonly number[]): readonly unknown[] {
    this.spent += amount
    const crossed = allPercentages.filter((p) => this.isPassed(p) && !this.#fired.has(p))
    for (const percentage of crossed) this.#fired.add(percentage)
    return crossed.filter((percentage) => configured.includes(percentage))
  }

  refuse(): readonly unknown[] {
    if (this.max === null) return []
    const isFirst = this.#firedAt === undefined
    const isLater = this.#isAdmitted && this.now >= (this.#firedAt ?? 0) + 60
    if (!isFirst && !isLater) return []
    this.#firedAt = this.now
    this.#isAdmitted = false
    return ['budget.exhausted']
  }

  admit(): void {
    this.#isAdmitted = true
  }

  cap(max: number | null): void {
    const isRaised = max === null || (this.max !== null && max > this.max)
    this.max = max
    if (!isRaised) return
    for (const percentage of allPercentages) {
      if (!this.isPassed(percentage)) this.#fired.delete(percentage)
    }
    if (max === null || this.spent < max) this.#firedAt = undefined
  }

  reset(): void {
    this.spent = 0
    this.#firedAt = undefined
    this.#fired.clear()
  }

  restart(): void {
    this.#firedAt = undefined
    this.#fired.clear()
    for (const percentage of allPercentages) {
      if (this.isPassed(percentage)) this.#fired.add(percentage)
    }
  }
}

const allPercentages = Array.from({ length: 100 }, (_, index) => index + 1)

test('any history of a budget fires the same events as a naive model', () => {
  return fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const clock = new ManualClock()
      const model = new Model()
      let configured: readonly number[] = [50, 80, 95]
      const events: unknown[] = []
      const begin = () =>
        new BudgetAlerts({
          clock,
          percentages: () => configured,
          notify: ({ type, threshold }) => events.push(threshold ?? type),
        })
      let thresholds = begin()
      const subject = () => ({
        scope: 'group' as const,
        record: {
          id: 'g',
          name: 'g',
          budgetMax: model.max === null ? null : (BigInt(model.max) as NanoUsd),
        },
        spent: BigInt(model.spent) as NanoUsd,
      })
      const expected: unknown[] = []
      for (const action of steps) {
        switch (action.kind) {
          case 'charge':
            expected.push(...model.charge(action.amount, configured))
            thresholds.charged(subject())
            break
          case 'refusal':
            expected.push(...model.refuse())
            thresholds.refused(subject())
            break
          case 'admission':
            model.admit()
            thresholds.admitted(subject())
            break
          case 'wait':
            model.now += action.seconds
            await clock.advance(action.seconds * 1000)
            break
          case 'cap':
            model.cap(action.max)
            thresholds.changed(subject())
            break
          case 'percentages':
            configured = action.percentages
            break
          case 'reset':
            model.reset()
            thresholds.turned(subject())
            break
          case 'restart':
            model.restart()
            thresholds = begin()
            thresholds.loaded(subject())
            break
          default:
            action satisfies never
        }
      }
      expect(events).toEqual(expected)
    }),
    { numRuns: 2000 },
  )
})
