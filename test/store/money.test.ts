import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { NanoUsd } from '../../src/core/ids.ts'
import { maxBudget } from '../../src/store/index.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { usageBatch } from '../support/usage-batch.ts'
import { groupId, keyId, newGroup, newKey, usageRow } from './support/rows.ts'

const amount = fc
  .oneof(
    fc.bigInt({ min: 0n, max: maxBudget }),
    // Around the carry from billionths to dollars.
    fc.bigInt({ min: 999_999_990n, max: 1_000_000_010n }),
    fc.constantFrom(0n, 1n, maxBudget, maxBudget - 1n),
  )
  .map((value) => value as NanoUsd)

const delta = fc.oneof(
  amount,
  amount.map((value) => -value as NanoUsd),
)

describe('money is exact', () => {
  test('a cap is exact up to the maximum budget', async () => {
    const store = new MemoryStore()
    await store.createKey(newKey('a'))
    await fc.assert(
      fc.asyncProperty(amount, async (budgetMax) => {
        expect(await store.updateKey(keyId('a'), { budgetMax })).toMatchObject({ budgetMax })
      }),
    )
  })

  test('grants are exact', async () => {
    const store = new MemoryStore()
    await store.createGroup(newGroup('g'))
    await fc.assert(
      fc.asyncProperty(amount, amount, async (budgetMax, grant) => {
        await store.updateGroup(groupId('g'), { budgetMax })
        const granted = await store.grantGroup(groupId('g'), grant)
        const sum = budgetMax + grant
        if (sum > maxBudget) expect(granted).toBe('too-much')
        else expect(granted).toMatchObject({ budgetMax: sum })
      }),
    )
  })

  test('spend is exact, one addition after the other and many at once, including negative ones', async () => {
    const store = new MemoryStore()
    await store.createKey(newKey('a'))
    await store.createGroup(newGroup('a'))
    let spent = 0n
    let flushes = 0
    await fc.assert(
      fc.asyncProperty(fc.array(delta, { maxLength: 5 }), async (amounts) => {
        await store.addSpend({
          id: `flush ${flushes++}`,
          additions: amounts.flatMap((value) => [
            { scope: 'key', id: 'a', amount: value },
            { scope: 'group', id: 'a', amount: -value as NanoUsd },
            { scope: 'key', id: 'unknown', amount: value },
          ]),
        })
        for (const value of amounts) spent += value
        const { keys, groups } = await store.readAccounts()
        expect(keys[0]?.budgetSpent).toBe(spent)
        expect(groups[0]?.budgetSpent).toBe(-spent)
      }),
    )
  })

  test('sums of costs are exact', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(amount, { minLength: 1, maxLength: 20 }), async (costs) => {
        const store = new MemoryStore()
        await store.addUsage(
          usageBatch(
            'u',
            costs.map((cost) => usageRow({ cost })),
          ),
        )
        const query = { since: 0, until: 2_000, limit: 10 }
        const [total] = await store.sumUsage({ ...query, groupBy: 'total' })
        expect(total?.cost).toBe(costs.reduce((sum, cost) => sum + cost, 0n))
        const rows = await store.listUsage({ ...query, limit: 100, cursor: 0 })
        expect(rows.map(({ cost }) => cost)).toEqual(costs)
      }),
      { numRuns: 30 },
    )
  })

  test('amounts are stored as integers', async () => {
    const store = new MemoryStore()
    await store.createKey(newKey('a', { budgetMax: maxBudget }))
    await store.grantKey(keyId('a'), 0n as NanoUsd)
    const additions = [{ scope: 'key', id: 'a', amount: 1_500_000_000n as NanoUsd }] as const
    await store.addSpend({ id: 's', additions })
    await store.addUsage(usageBatch('u', [usageRow({ latencyMs: 12.5 })]))
    const types = store.read(`
      select typeof(budget_max_usd), typeof(budget_max_nano), typeof(budget_spent_usd),
        typeof(budget_spent_nano), typeof(created_at), typeof(disabled) from virtual_keys
      union all
      select typeof(cost_usd), typeof(cost_nano), typeof(ts), typeof(latency_ms), typeof(stream),
        typeof(status) from usage_log
    `)
    expect(types.flat()).toEqual(Array(12).fill('integer'))
  })
})

describe('spending', () => {
  test('spend is added to tombstones', async () => {
    const store = new MemoryStore()
    await store.createKey(newKey('a'))
    await store.createGroup(newGroup('g'))
    await store.deleteKey(keyId('a'), 1)
    await store.deleteGroup(groupId('g'), 1)
    await store.addSpend({
      id: 's',
      additions: [
        { scope: 'key', id: 'a', amount: 5n as NanoUsd },
        { scope: 'group', id: 'g', amount: 7n as NanoUsd },
      ],
    })
    const { keys, groups } = await store.readAccounts()
    expect([keys[0]?.budgetSpent, groups[0]?.budgetSpent]).toEqual([5n, 7n])
  })

  test('a flush is written once, no matter how often it is sent', async () => {
    const store = new MemoryStore()
    await store.createKey(newKey('a'))
    const flush = (id: string) => ({
      id,
      additions: [{ scope: 'key', id: 'a', amount: 5n as NanoUsd }] as const,
    })
    await store.addSpend(flush('1'))
    await Promise.all([store.addSpend(flush('1')), store.addSpend(flush('2'))])
    expect((await store.readAccounts()).keys[0]?.budgetSpent).toBe(10n)
  })
})
