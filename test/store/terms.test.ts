import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  type BudgetTerm,
  budgetPeriods,
  periodEnd,
  periodStart,
} from '../../src/core/budget-period.ts'
import type { GroupId, KeyId, NanoUsd } from '../../src/core/ids.ts'
import type { SpendAddition } from '../../src/store/index.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { PlainSpend } from './support/plain-spend.ts'
import { groupId, keyId, newGroup, newKey, usd } from './support/rows.ts'

const utc = (text: string) => Date.parse(`${text}Z`) / 1000

describe('calendar periods', () => {
  test.each([
    ['day', '2025-11-24T16:00', '2025-11-24T00:00', '2025-11-25T00:00'],
    ['day', '2025-11-24T00:00', '2025-11-24T00:00', '2025-11-25T00:00'],
    ['day', '2024-02-28T23:59:59', '2024-02-28T00:00', '2024-02-29T00:00'],
    ['week', '2025-11-24T00:00', '2025-11-24T00:00', '2025-12-01T00:00'],
    ['week', '2025-11-23T23:59:59', '2025-11-17T00:00', '2025-11-24T00:00'],
    ['week', '1970-01-01T00:00', '1969-12-29T00:00', '1970-01-05T00:00'],
    ['month', '2025-12-31T23:59:59', '2025-12-01T00:00', '2026-01-01T00:00'],
    ['month', '2024-02-29T12:00', '2024-02-01T00:00', '2024-03-01T00:00'],
  ] as const)('the %s of %s begins at %s and ends at %s, in UTC', (period, at, start, end) => {
    expect(periodStart(period, utc(at))).toBe(utc(start))
    expect(periodEnd(period, utc(at))).toBe(utc(end))
  })
})

const monday = utc('2025-11-24T00:00')
const hour = 3_600
const term = (day: number): BudgetTerm => ({
  period: 'day',
  since: monday + day * 24 * hour,
  resetsAt: monday + (day + 1) * 24 * hour,
})

const charge = (amount: number, at?: BudgetTerm): SpendAddition => ({
  scope: 'key',
  id: 'a',
  amount: usd(amount),
  ...(at && { term: at }),
})

async function keyWith(period: 'day' | null) {
  const store = new MemoryStore()
  await store.createKey(newKey('a', { budgetPeriod: period, createdAt: monday + hour }))
  let flushes = 0
  const add = (...additions: SpendAddition[]) =>
    store.addSpend({ id: String(flushes++), additions })
  const read = async () => {
    const { keys } = await store.readAccounts()
    const { budgetSpent, spentTotal, term: saved } = keys[0] ?? {}
    return { budgetSpent, spentTotal, ...saved }
  }
  return { store, add, read }
}

describe('the saved spend of a budget', () => {
  test('a new budget ends with the period of its creation', async () => {
    const { read } = await keyWith('day')
    expect(await read()).toMatchObject({ period: 'day', since: 0, resetsAt: monday + 24 * hour })
  })

  test('a charge of a later term replaces the spend, and adds to the total', async () => {
    const { add, read } = await keyWith('day')
    await add(charge(1.5))
    await add(charge(2.25, term(1)))
    await add(charge(0.000000001, term(1)))
    expect(await read()).toEqual({
      ...term(1),
      budgetSpent: usd(2.25) + 1n,
      spentTotal: usd(3.75) + 1n,
    })
  })

  test('a charge of an earlier term adds only to the total', async () => {
    const { add, read } = await keyWith('day')
    await add(charge(1, term(1)))
    await add(charge(5))
    expect(await read()).toEqual({ ...term(1), budgetSpent: usd(1), spentTotal: usd(6) })
  })

  test('a changed period keeps the spend until its own end', async () => {
    const { store, add, read } = await keyWith('day')
    await add(charge(1))
    const at = monday + 2 * hour
    await store.updateKey(keyId('a'), { budgetPeriod: { period: 'month', at } })
    const kept = { period: 'month', since: 0, resetsAt: utc('2025-12-01T00:00') }
    expect(await read()).toMatchObject({ ...kept, budgetSpent: usd(1) })
    // This charge was made before the change.
    await add(charge(2))
    expect(await read()).toMatchObject({ ...kept, budgetSpent: usd(3) })
  })

  test('a charge from before a change of the period does not set the end back', async () => {
    const { store, add, read } = await keyWith('day')
    const at = monday + 25 * hour
    await store.updateKey(keyId('a'), { budgetPeriod: { period: 'week', at } })
    await add(charge(1, term(1)))
    const week = { period: 'week', since: monday + 24 * hour, resetsAt: utc('2025-12-01T00:00') }
    expect(await read()).toEqual({ ...week, budgetSpent: usd(1), spentTotal: usd(1) })
  })

  test('a period that is set again keeps its end', async () => {
    const { store, read } = await keyWith('day')
    const at = monday + 10 * hour
    await store.updateKey(keyId('a'), { budgetPeriod: { period: 'day', at }, name: 'x' })
    expect(await read()).toMatchObject({ since: 0, resetsAt: monday + 24 * hour })
  })

  test('without a period the spend grows for ever', async () => {
    const { store, add, read } = await keyWith('day')
    await add(charge(1))
    await store.updateKey(keyId('a'), { budgetPeriod: { period: null, at: monday + hour } })
    await add(charge(1))
    const never = { period: null, since: 0, resetsAt: null }
    expect(await read()).toEqual({ ...never, budgetSpent: usd(2), spentTotal: usd(2) })
  })
})

const anyPeriod = fc.constantFrom(...budgetPeriods, null)
const anyTime = fc.integer({ min: 0, max: 24 * 60 }).map((hours) => monday + hours * hour)
const anyScope = fc.constantFrom('key' as const, 'group' as const)
const anyStep = fc.oneof(
  fc.record({
    do: fc.constant('change' as const),
    scope: anyScope,
    period: anyPeriod,
    at: anyTime,
  }),
  fc.record({
    do: fc.constant('charge' as const),
    scope: anyScope,
    amount: fc.integer({ min: -3, max: 4_000_000_000 }),
    part: fc.integer({ min: 0, max: 2_000_000_000 }),
    period: anyPeriod,
    at: anyTime,
  }),
)

test('the database keeps the same terms and spends as the rules in their simplest form', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(anyStep, { maxLength: 12 }), async (steps) => {
      const store = new MemoryStore()
      const plain = new PlainSpend()
      const born = { budgetPeriod: 'day', createdAt: monday } as const
      const [group, key] = [newGroup('a', born), newKey('a', born)]
      await store.createGroup(group)
      await store.createKey(key)
      plain.addGroup(group)
      plain.addKey(key)
      for (const [at, step] of steps.entries()) {
        const { scope, period } = step
        if (step.do === 'change') {
          const budgetPeriod = { period, at: step.at }
          if (scope === 'key') await store.updateKey('a' as KeyId, { budgetPeriod })
          else await store.updateGroup('a' as GroupId, { budgetPeriod })
          plain.changePeriod(scope, 'a', budgetPeriod)
          continue
        }
        const since = period === null ? 0 : periodStart(period, step.at)
        const resetsAt = period === null ? null : periodEnd(period, step.at)
        const addition = {
          scope,
          id: 'a',
          amount: BigInt(step.amount) as NanoUsd,
          termAmount: BigInt(step.part) as NanoUsd,
          term: { period, since, resetsAt },
        }
        await store.addSpend({ id: String(at), additions: [addition] })
        plain.charge(addition)
      }
      expect(await store.readAccounts()).toEqual(plain.readAccounts())
    }),
    { numRuns: 150 },
  )
}, 60_000)

test('a group is charged like a key', async () => {
  const store = new MemoryStore()
  await store.createGroup(newGroup('g', { budgetPeriod: 'day', createdAt: monday }))
  const addition = { scope: 'group', id: 'g', amount: usd(3), term: term(2) } as const
  await store.addSpend({ id: '1', additions: [addition] })
  const { groups } = await store.readAccounts()
  expect(groups).toMatchObject([{ id: groupId('g'), budgetSpent: usd(3), term: term(2) }])
})
