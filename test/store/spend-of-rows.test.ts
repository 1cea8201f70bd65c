import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { NanoUsd } from '../../src/core/ids.ts'
import { maxBudget, type NewUsageRow } from '../../src/store/index.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { usageBatch } from '../support/usage-batch.ts'
import { groupId, newGroup, newKey, usageRow } from './support/rows.ts'

const anyRow = fc
  .record({
    keyId: fc.constantFrom('a', 'b', 'c'),
    groupId: fc.constantFrom('g', 'h', null),
    cost: fc
      .oneof(
        fc.bigInt({ min: 0n, max: 2_000_000_000n }),
        fc.constantFrom(0n, maxBudget, maxBudget * 3n),
      )
      .map((cost) => cost as NanoUsd),
  })
  .map(usageRow)

async function accountStore(): Promise<MemoryStore> {
  const store = new MemoryStore()
  for (const id of ['g', 'h']) await store.createGroup(newGroup(id))
  await store.createKey(newKey('a', { groupId: groupId('g') }))
  for (const id of ['b', 'c']) await store.createKey(newKey(id))
  await store.deleteKey(newKey('c').id, 1)
  return store
}

/** Returns the spend of keys and groups and the sums of their rows, by id. */
async function books(store: MemoryStore) {
  const rows = await store.listUsage({ since: 0, until: 1e9, cursor: 0, limit: 1e6 })
  const { keys, groups } = await store.readAccounts()
  const sumOf = (isOwn: (row: NewUsageRow) => boolean) =>
    rows.filter(isOwn).reduce((sum, { cost }) => sum + cost, 0n)
  return {
    rows: rows.length,
    spent: [...keys, ...groups].map(({ id, budgetSpent }) => [id, budgetSpent]),
    explained: [
      ...keys.map(({ id }) => [id, sumOf(({ keyId }) => keyId === id)]),
      ...groups.map(({ id }) => [id, sumOf((row) => row.groupId === id)]),
    ],
  }
}

describe('a batch of usage rows', () => {
  test('a batch of usage rows charges its keys and groups once, including tombstones, no matter how often it is sent', async () => {
    const store = await accountStore()
    let batches = 0
    await fc.assert(
      fc.asyncProperty(fc.array(anyRow, { maxLength: 12 }), async (rows) => {
        const batch = usageBatch(`batch ${batches++}`, rows)
        await store.addUsage(batch)
        await store.addUsage(batch)
        const { spent, explained } = await books(store)
        expect(spent).toEqual(explained)
      }),
    )
    expect((await books(store)).rows).toBeGreaterThan(0)
  })

  test.each([
    ['virtual_keys', 'update'],
    ['budget_groups', 'update'],
    ['usage_log', 'insert'],
  ])(
    'a batch of usage rows leaves nothing behind when %s cannot be written',
    async (table, event) => {
      const store = await accountStore()
      const broken = `create trigger broken before ${event} on ${table} begin select raise(abort, 'no room'); end`
      store.run(broken)
      const cost = 7n as NanoUsd
      const batch = usageBatch('batch', [usageRow({ keyId: 'a', groupId: 'g', cost })])
      await expect(store.addUsage(batch)).rejects.toMatchObject({ code: 'SQLITE_CONSTRAINT' })
      const empty = await books(store)
      expect(empty).toMatchObject({ rows: 0, spent: empty.explained })
      store.run('drop trigger broken')
      await store.addUsage(batch)
      const { rows, spent, explained } = await books(store)
      expect({ rows, spent }).toEqual({ rows: 1, spent: explained })
      expect(spent).toContainEqual(['g', 7n])
    },
  )
})
