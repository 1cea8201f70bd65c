import { describe, expect, test } from 'vitest'
import { createKeyEntry } from '../../src/accounting/index.ts'
import { keyRow, nano } from './support.ts'

const dayMs = 86_400_000
const monday = Date.UTC(2025, 10, 24)

/** A daily budget that was created on Monday, with this spend. */
function daily(spent: number) {
  return createKeyEntry(keyRow({ budgetPeriod: 'day', budgetSpent: nano(spent) }))
}

describe('a wall clock that is set', () => {
  test('setting it back across midnight does not reset the budget twice', () => {
    const budget = daily(5)
    expect(budget.turn(monday + dayMs)).toBe(true)
    budget.charge(7n, budget.term)
    expect(budget.turn(monday + dayMs - 1_000)).toBe(false)
    expect(budget.turn(monday + dayMs)).toBe(false)
    expect(budget.spent).toBe(7n)
    expect(budget.turn(monday + 2 * dayMs)).toBe(true)
    expect(budget.spent).toBe(0n)
  })

  test('a clock that was far ahead does not postpone the next reset', () => {
    const budget = daily(5)
    expect(budget.turn(monday + 5_000 * dayMs)).toBe(true)
    budget.charge(7n, budget.term)
    expect(budget.turn(monday + dayMs / 2)).toBe(false)
    expect([budget.spent, budget.term.resetsAt]).toEqual([7n, (monday + dayMs) / 1000])
    const early = budget.term
    expect(budget.turn(monday + dayMs)).toBe(true)
    expect([budget.spent, budget.spentTotal]).toEqual([0n, 12n])
    // The terms stay in order, so that late charges are told apart.
    expect(budget.term.since).toBeGreaterThan(early.since)
    expect(budget.charge(1n, early)).toBe(false)
    expect([budget.spent, budget.spentTotal]).toEqual([0n, 13n])
  })

  test('days without a request are one reset', () => {
    const budget = daily(5)
    expect(budget.turn(monday + 9.5 * dayMs)).toBe(true)
    expect(budget.term).toEqual({
      period: 'day',
      since: (monday + 9 * dayMs) / 1000,
      resetsAt: (monday + 10 * dayMs) / 1000,
    })
    expect(budget.turn(monday + 9.9 * dayMs)).toBe(false)
  })
})
