import { expect, test } from 'vitest'
import { addDemoHistory } from '../../../adapters/node/console/demo-history.ts'
import { MemoryStore } from '../../support/memory-store.ts'

test('the demo begins with 30 days of usage, within the budget of its group', async () => {
  const store = new MemoryStore()
  const now = 1_764_000_000
  await addDemoHistory(store, now)
  const window = { since: now - 30 * 86_400, until: now }
  const [sum] = await store.sumUsage({ ...window, groupBy: 'group_id', limit: 10 })
  const { groups, keys } = await store.readAccounts()
  expect(groups).toMatchObject([{ name: 'website', budgetSpent: sum?.cost, id: sum?.group }])
  expect(keys).toMatchObject([{ name: 'help desk', groupId: sum?.group }])
  expect(sum?.requests).toBe(30 * 24)
  const [group] = groups
  expect(Number(sum?.cost) / Number(group?.budgetMax)).toBeGreaterThan(0.3)
  expect(Number(sum?.cost) / Number(group?.budgetMax)).toBeLessThan(0.9)
})
