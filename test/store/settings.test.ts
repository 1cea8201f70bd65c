import { expect, test } from 'vitest'
import { MemoryStore } from '../support/memory-store.ts'

test('sealed values are created or replaced by purpose and name', async () => {
  const store = new MemoryStore()
  const row = { purpose: 'provider-key', name: 'b', sealed: 's1', updatedAt: 1 } as const
  await store.putSealed(row)
  await store.putSealed({ ...row, name: 'a' })
  await store.putSealed({ ...row, purpose: 'canary' })
  await store.putSealed({ ...row, sealed: 's2', updatedAt: 2 })
  const second = { ...row, sealed: 's2', updatedAt: 2 }
  expect(await store.readSealed('provider-key')).toEqual([{ ...row, name: 'a' }, second])
  await store.deleteSealed('provider-key', 'a')
  await store.deleteSealed('provider-key', 'never')
  expect(await store.readSealed('provider-key')).toEqual([second])
  expect(await store.readSealed('canary')).toEqual([{ ...row, purpose: 'canary' }])
  expect(await store.readSealed('webhook-signing-key')).toEqual([])
})

test('webhook settings are one row that is absent until they are set', async () => {
  const store = new MemoryStore()
  expect(await store.readWebhookSettings()).toBeUndefined()
  await store.putWebhookSettings({ enabled: true, settings: '{"url":"u"}', updatedAt: 1 })
  const second = { enabled: false, settings: '{}', updatedAt: 2 }
  await store.putWebhookSettings(second)
  expect(await store.readWebhookSettings()).toEqual(second)
})
