import { expect, test } from 'vitest'
import type { Store } from '../../src/store/index.ts'
import { auditEntry } from '../support/audit.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { usageBatch } from '../support/usage-batch.ts'
import { groupId, keyId, newGroup, newKey, usageRow, usd } from './support/rows.ts'

const sealed = { name: 'n', sealed: 's', updatedAt: 1 }

test.each<[topic: string, write: string, (store: Store) => Promise<unknown>]>([
  ['accounts', 'createGroup', (store) => store.createGroup(newGroup('h'))],
  ['accounts', 'updateGroup', (store) => store.updateGroup(groupId('g'), { rpmLimit: 1 })],
  ['accounts', 'grantGroup', (store) => store.grantGroup(groupId('g'), usd(1))],
  ['accounts', 'deleteGroup', (store) => store.deleteGroup(groupId('g'), 1)],
  ['accounts', 'createKey', (store) => store.createKey(newKey('l'))],
  ['accounts', 'updateKey', (store) => store.updateKey(keyId('k'), { name: 'new' })],
  ['accounts', 'rotateKey', (store) => store.rotateKey(keyId('k'), rotation)],
  ['accounts', 'grantKey', (store) => store.grantKey(keyId('k'), usd(1))],
  ['accounts', 'deleteKey', (store) => store.audited(auditEntry).deleteKey(keyId('k'), 1)],
  [
    'provider-keys',
    'putSealed',
    (store) => store.putSealed({ purpose: 'provider-key', ...sealed }),
  ],
  ['provider-keys', 'deleteSealed', (store) => store.deleteSealed('provider-key', 'old')],
  [
    'webhooks',
    'putSealed',
    (store) => store.putSealed({ purpose: 'webhook-signing-key', ...sealed }),
  ],
  ['webhooks', 'putWebhookSettings', (store) => store.putWebhookSettings(settings)],
])('%s: %s counts as a change', async (topic, _write, write) => {
  const store = await prepared()
  const before = await store.readChanges()
  await write(store)
  const after: Record<string, number> = await store.readChanges()
  expect(changed(before, after)).toEqual([topic])
})

test('spend, usage, failed writes and the check of the master key are no changes', async () => {
  const store = await prepared()
  const before = await store.readChanges()
  await store.addSpend({ id: '1', additions: [{ scope: 'key', id: 'k', amount: usd(1) }] })
  await store.addUsage(usageBatch('2', [usageRow({ keyId: keyId('k'), cost: usd(1) })]))
  await store.updateKey(keyId('none'), { name: 'new' })
  await store.putSealed({ purpose: 'canary', ...sealed })
  await store.deleteSealed('provider-key', 'none')
  expect(await store.readChanges()).toEqual(before)
})

test('the keys and groups that have changed since a count are read alone', async () => {
  const store = await prepared()
  await store.createKey(newKey('l'))
  await store.createGroup(newGroup('h'))
  const { accounts: since } = await store.readChanges()
  const read = async (count?: number) => {
    const { keys, groups } = await store.readAccounts(count)
    return [...keys, ...groups].map(({ id }) => id)
  }
  expect(await read(since)).toEqual([])
  await store.deleteKey(keyId('l'), 1)
  await store.updateKey(keyId('k'), { name: 'new' })
  await store.updateGroup(groupId('h'), { name: 'new' })
  await store.addSpend({ id: '1', additions: [{ scope: 'group', id: 'g', amount: usd(1) }] })
  expect(await read(since)).toEqual(['k', 'l', 'h'])
  expect(await read(since + 1)).toEqual(['k', 'h'])
  expect(await read()).toEqual(['k', 'l', 'g', 'h'])
})

const rotation = { digest: 'd', graceEndsAt: null }
const settings = { enabled: true, settings: '{}', updatedAt: 1 }

async function prepared() {
  const store = new MemoryStore()
  await store.createGroup(newGroup('g', { budgetMax: usd(1) }))
  await store.createKey(newKey('k', { budgetMax: usd(1) }))
  await store.putSealed({ purpose: 'provider-key', ...sealed, name: 'old' })
  return store
}

function changed(before: Awaited<ReturnType<Store['readChanges']>>, after: Record<string, number>) {
  return Object.entries(before).flatMap(([topic, count]) => (after[topic] === count ? [] : [topic]))
}
