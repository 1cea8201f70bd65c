import { describe, expect, test } from 'vitest'
import { firstTerm } from '../../src/core/budget-period.ts'
import type { NanoUsd } from '../../src/core/ids.ts'
import { maxBudget, type NewKey } from '../../src/store/index.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { groupId, keyId, newGroup, newKey, usd } from './support/rows.ts'

const nothingSpent = { budgetSpent: 0n, spentTotal: 0n, term: firstTerm }
const a = {
  ...newKey('a'),
  formerDigest: null,
  graceEndsAt: null,
  deletedAt: null,
  ...nothingSpent,
}

describe('keys', () => {
  test('keys are read as they were written, in order of creation', async () => {
    const store = new MemoryStore()
    await store.createGroup(newGroup('g'))
    const full: Partial<NewKey> = {
      groupId: groupId('g'),
      models: ['gpt-5', 'org/*'],
      budgetMax: usd(12.5),
      rpmLimit: 60,
      tpmLimit: 0,
      maxParallel: 3,
      expiresAt: 2_000,
      disabled: true,
    }
    const z = await store.createKey(newKey('z', full))
    expect(z).toEqual({ ...a, ...full, id: 'z', name: 'Z', digest: 'digest of z' })
    expect(await store.createKey(newKey('a'))).toEqual(a)
    expect((await store.readAccounts()).keys).toEqual([z, a])
  })

  test('keys join only a group that exists and is not deleted', async () => {
    const store = new MemoryStore()
    await store.createGroup(newGroup('gone'))
    await store.deleteGroup(groupId('gone'), 1)
    await store.createKey(newKey('a'))
    for (const name of ['gone', 'never']) {
      const group = groupId(name)
      expect(await store.createKey(newKey('b', { groupId: group }))).toBe('unknown-group')
      expect(await store.updateKey(keyId('a'), { groupId: group, name: 'new' })).toBe(
        'unknown-group',
      )
    }
    expect((await store.readAccounts()).keys).toEqual([a])
  })

  test('a change of a key sets the given members and nothing else', async () => {
    const store = new MemoryStore()
    await store.createGroup(newGroup('g'))
    await store.createKey(newKey('a', { budgetMax: usd(1), rpmLimit: 5, groupId: groupId('g') }))
    const before = { ...a, budgetMax: usd(1), rpmLimit: 5, groupId: 'g' }
    expect(await store.updateKey(keyId('a'), {})).toEqual(before)
    const change = {
      name: 'other',
      models: ['gpt-5'],
      budgetMax: null,
      rpmLimit: null,
      groupId: null,
      disabled: true,
    }
    const after = { ...before, ...change }
    expect(await store.updateKey(keyId('a'), change)).toEqual(after)
    expect(await store.updateKey(keyId('a'), { tpmLimit: 7, expiresAt: 9 })).toEqual({
      ...after,
      tpmLimit: 7,
      expiresAt: 9,
    })
    expect(await store.updateKey(keyId('a'), { models: null })).toMatchObject({ models: null })
    expect(await store.updateKey(keyId('a'), { budgetMax: usd(3.25) })).toMatchObject({
      budgetMax: usd(3.25),
    })
  })

  test('a rotated key has a new digest, and keeps the former one for its grace period', async () => {
    const store = new MemoryStore()
    await store.createKey(newKey('a'))
    const rotate = (digest: string, graceEndsAt: number | null) =>
      store.rotateKey(keyId('a'), { digest, graceEndsAt })
    expect(await rotate('new', null)).toEqual({ ...a, digest: 'new' })
    const graced = { digest: 'newer', formerDigest: 'new', graceEndsAt: 9 }
    expect(await rotate('newer', 9)).toEqual({ ...a, ...graced })
    expect((await store.readAccounts()).keys).toEqual([{ ...a, ...graced }])
    const again = { digest: 'newest', formerDigest: 'newer', graceEndsAt: 10 }
    expect(await rotate('newest', 10)).toEqual({ ...a, ...again })
    expect(await rotate('last', null)).toEqual({ ...a, digest: 'last' })
  })

  test('a deleted key leaves a tombstone that cannot be changed', async () => {
    const store = new MemoryStore()
    await store.createKey(newKey('a', { budgetMax: usd(1) }))
    const tombstone = { ...a, budgetMax: usd(1), deletedAt: 77 }
    expect(await store.deleteKey(keyId('a'), 77)).toEqual(tombstone)
    for (const id of ['a', 'never'].map(keyId)) {
      expect(await store.updateKey(id, { name: 'b' })).toBe('unknown-key')
      expect(await store.updateKey(id, {})).toBe('unknown-key')
      expect(await store.rotateKey(id, { digest: 'new', graceEndsAt: null })).toBe('unknown-key')
      expect(await store.deleteKey(id, 78)).toBe('unknown-key')
      expect(await store.grantKey(id, usd(1))).toBe('unknown-key')
    }
    expect((await store.readAccounts()).keys).toEqual([tombstone])
  })

  test('two keys cannot have the same digest', async () => {
    const store = new MemoryStore()
    await store.createKey(newKey('a', { digest: 'same' }))
    await expect(store.createKey(newKey('b', { digest: 'same' }))).rejects.toMatchObject({
      code: 'SQLITE_CONSTRAINT',
    })
  })
})

describe('groups', () => {
  const g = { ...newGroup('g'), ...nothingSpent }

  test('groups are read as they were written, and a change sets the given members', async () => {
    const store = new MemoryStore()
    const limits = {
      models: ['gpt-5'],
      budgetMax: usd(2),
      rpmLimit: 0,
      tpmLimit: 1,
      maxParallel: 2,
    }
    expect(await store.createGroup(newGroup('z', limits))).toMatchObject(limits)
    expect(await store.createGroup(newGroup('g'))).toEqual(g)
    expect(await store.updateGroup(groupId('g'), {})).toEqual(g)
    expect(await store.updateGroup(groupId('g'), { budgetMax: usd(1) })).toEqual({
      ...g,
      budgetMax: usd(1),
    })
    const renamed = { ...g, name: 'new' }
    expect(await store.updateGroup(groupId('g'), { name: 'new', budgetMax: null })).toEqual(renamed)
    const { groups } = await store.readAccounts()
    expect(groups.map(({ id }) => id)).toEqual(['z', 'g'])
  })

  test('a group with keys that are not deleted cannot be deleted', async () => {
    const store = new MemoryStore()
    await store.createGroup(newGroup('g', { budgetMax: usd(1) }))
    await store.createKey(newKey('a', { groupId: groupId('g'), disabled: true }))
    expect(await store.deleteGroup(groupId('g'), 5)).toBe('has-members')
    await store.deleteKey(keyId('a'), 4)
    const tombstone = { ...g, budgetMax: usd(1), deletedAt: 5 }
    expect(await store.deleteGroup(groupId('g'), 5)).toEqual(tombstone)
    for (const id of ['g', 'never'].map(groupId)) {
      expect(await store.updateGroup(id, { name: 'b' })).toBe('unknown-group')
      expect(await store.deleteGroup(id, 6)).toBe('unknown-group')
      expect(await store.grantGroup(id, usd(1))).toBe('unknown-group')
    }
    expect((await store.readAccounts()).groups).toEqual([tombstone])
  })
})

describe('grants', () => {
  test('concurrent grants are all added to the cap', async () => {
    const store = new MemoryStore()
    await store.createKey(newKey('a', { budgetMax: usd(0.999999999) }))
    await store.createGroup(newGroup('g', { budgetMax: usd(0) }))
    const amounts = Array.from({ length: 20 }, (_, at) => usd(at * 0.1 + 0.000000001))
    await Promise.all(
      amounts.flatMap((amount) => [
        store.grantKey(keyId('a'), amount),
        store.grantGroup(groupId('g'), amount),
      ]),
    )
    const { keys, groups } = await store.readAccounts()
    expect(keys[0]?.budgetMax).toBe(usd(0.999999999) + usd(19) + 20n)
    expect(groups[0]?.budgetMax).toBe(usd(19) + 20n)
  })

  test('a grant without a cap is refused', async () => {
    const store = new MemoryStore()
    await store.createKey(newKey('a'))
    await store.createGroup(newGroup('g'))
    expect(await store.grantKey(keyId('a'), usd(1))).toBe('no-cap')
    expect(await store.grantGroup(groupId('g'), usd(1))).toBe('no-cap')
    expect((await store.readAccounts()).keys).toEqual([a])
  })

  test('grants can reach the maximum budget, but not exceed it', async () => {
    const store = new MemoryStore()
    // One billionth is missing.
    const budgetMax = (maxBudget - 1n) as NanoUsd
    await store.createKey(newKey('a', { budgetMax }))
    await store.createGroup(newGroup('g', { budgetMax }))
    expect(await store.grantKey(keyId('a'), usd(0.000000002))).toBe('too-much')
    expect(await store.grantGroup(groupId('g'), maxBudget)).toBe('too-much')
    expect(await store.grantKey(keyId('a'), usd(0.000000001))).toMatchObject({
      budgetMax: maxBudget,
    })
    expect(await store.grantKey(keyId('a'), usd(0.000000001))).toBe('too-much')
  })
})
