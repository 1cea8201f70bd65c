import { describe, expect, test } from 'vitest'
import type { GroupId, KeyId } from '../../src/core/ids.ts'
import {
  admitRequest,
  getEntry,
  groupId,
  groupRow,
  keyId,
  keyRow,
  nano,
  refusal,
  registryWith,
  usd,
} from './support.ts'

const idOf = (digit: string) => digit.repeat(32) as KeyId & GroupId

describe('keys and groups', () => {
  test('keys and groups are listed in order of creation, even after a change and after another load', () => {
    const { accounts } = registryWith({}, {})
    accounts.putKey(keyRow({ id: idOf('3') }))
    accounts.putGroup(groupRow({ id: idOf('4') }))
    accounts.putKey(keyRow({ name: 'other' }))
    accounts.putGroup(groupRow({ name: 'other' }))
    const ids = () =>
      [accounts.listKeys(), accounts.listGroups()].map((all) => all.map((e) => e.record.id))
    expect(ids()).toEqual([
      [keyId, idOf('3')],
      [groupId, idOf('4')],
    ])
    accounts.load({
      keys: [keyRow(), keyRow({ id: idOf('2') }), keyRow({ id: idOf('3') })],
      groups: [groupRow({ id: idOf('4') })],
    })
    expect(ids()).toEqual([[keyId, idOf('2'), idOf('3')], [idOf('4')]])
    expect([accounts.getGroup(groupId), accounts.getKey(idOf('9'))]).toEqual([undefined, undefined])
  })

  test('keys and groups start with the spend of the database', () => {
    const { entry, group } = registryWith({ budgetSpent: usd(2) }, { budgetSpent: usd(3) })
    expect([entry.spent, group?.spent]).toEqual([usd(2), usd(3)])
  })

  test('the records contain neither the digest of the secret nor the spend', () => {
    const { entry, group } = registryWith({}, {})
    expect(Object.keys(entry.record)).not.toContain('digest')
    expect(Object.keys(entry.record)).not.toContain('budgetSpent')
    expect(Object.keys(group?.record ?? {})).not.toContain('budgetSpent')
  })

  test('replacing a record keeps spend, reservations and windows', () => {
    const limits = { budgetMax: usd(1), rpmLimit: 2, tpmLimit: 1_000_000 }
    const { accounts, entry, group } = registryWith(limits, {})
    admitRequest(accounts, 100_000).settle({ cost: usd(0.25), tokens: 100_000 })
    admitRequest(accounts, 500_000)
    accounts.putKey(keyRow({ ...limits, groupId, name: 'new', budgetSpent: usd(9) }))
    accounts.putGroup(groupRow({ name: 'new', budgetSpent: usd(9) }))
    accounts.load({
      keys: [keyRow({ ...limits, groupId, name: 'newer', budgetSpent: usd(9) })],
      groups: [groupRow({ budgetSpent: usd(9) })],
    })
    expect(accounts.getKey(keyId)).toBe(entry)
    expect(entry).toMatchObject({ spent: usd(0.25), reserved: usd(0.5), record: { name: 'newer' } })
    expect(group?.spent).toBe(usd(0.25))
    expect(refusal(() => admitRequest(accounts, 1)).code).toBe('LM-4002')
    accounts.putKey(keyRow({ ...limits, rpmLimit: 9 }))
    expect(refusal(() => admitRequest(accounts, 400_001)).code).toBe('LM-4003')
    expect(refusal(() => admitRequest(accounts, 250_001)).code).toBe('LM-4001')
    admitRequest(accounts, 250_000)
  })

  test('a new cap and new limits apply from the next request on', () => {
    const { accounts } = registryWith({ budgetMax: usd(1) })
    refusal(() => admitRequest(accounts, 1_500_000))
    accounts.putKey(keyRow({ budgetMax: usd(2) }))
    const admission = admitRequest(accounts, 1_500_000)
    accounts.putKey(keyRow({ budgetMax: null }))
    admitRequest(accounts, 9_000_000)
    accounts.putKey(keyRow({ budgetMax: usd(1) }))
    expect(refusal(() => admitRequest(accounts, 0)).detail.fields).toMatchObject({ reserved: 1.5 })
    admission.withdraw()
    admitRequest(accounts, 1_000_000)
  })

  test('the registry counts its changes, so that stale rows are recognized', () => {
    const { accounts } = registryWith({}, {})
    const before = accounts.changes
    accounts.putKey(keyRow())
    accounts.putGroup(groupRow())
    expect(accounts.changes).toBe(before + 2)
    accounts.load({ keys: [keyRow()], groups: [groupRow()] })
    expect(accounts.changes).toBe(before + 2)
  })

  test('a deleted key is charged for its running requests', () => {
    const { accounts, entry } = registryWith({})
    const admission = admitRequest(accounts, 1)
    accounts.putKey(keyRow({ deletedAt: 1 }))
    admission.settle({ cost: usd(1), tokens: undefined })
    expect(entry.spent).toBe(usd(1))
  })
})

describe('the watch', () => {
  test('the observer is called for loaded, created and replaced records', () => {
    const { accounts, watch } = registryWith({ budgetSpent: usd(2) }, { budgetMax: usd(5) })
    accounts.putKey(keyRow({ id: idOf('3') }))
    accounts.putKey(keyRow({ name: 'new', budgetMax: usd(7) }))
    const key = { scope: 'key', id: keyId, name: 'a key', budgetMax: null, spent: usd(2) }
    expect(watch.calls).toEqual([
      {
        of: 'loaded',
        scope: 'group',
        id: groupId,
        name: 'a group',
        budgetMax: usd(5),
        spent: 0n,
      },
      { of: 'loaded', ...key },
      { of: 'loaded', ...key, id: idOf('3'), spent: 0n },
      { of: 'changed', ...key, name: 'new', budgetMax: usd(7) },
    ])
  })

  test('the observer is called for charges and budget refusals with the sums at that moment', () => {
    const { accounts, watch, entry } = registryWith({ rpmLimit: 2 }, { budgetMax: usd(1) })
    watch.calls.length = 0
    admitRequest(accounts, 1_000_000).settle({ cost: usd(0.5), tokens: undefined })
    refusal(() => admitRequest(accounts, 1_000_000))
    admitRequest(accounts, 1).settle({ cost: nano(0), tokens: undefined })
    expect(refusal(() => admitRequest(accounts, 1)).code).toBe('LM-4002')
    expect(watch.calls).toMatchObject([
      { of: 'charged', scope: 'key', spent: usd(0.5) },
      { of: 'charged', scope: 'group', spent: usd(0.5) },
      { of: 'refused', scope: 'group', spent: usd(0.5) },
    ])
    expect(getEntry(accounts)).toBe(entry)
  })
})
