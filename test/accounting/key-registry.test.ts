import { describe, expect, test } from 'vitest'
import type { GroupId, KeyId } from '../../src/core/ids.ts'
import {
  ask,
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
  test('stand in order of creation, also after a change and after another load', () => {
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

  test('begin with what the database says they have spent', () => {
    const { entry, group } = registryWith({ budgetSpent: usd(2) }, { budgetSpent: usd(3) })
    expect([entry.spent, group?.spent]).toEqual([usd(2), usd(3)])
  })

  test('show neither the digest of the secret nor a second sum', () => {
    const { entry, group } = registryWith({}, {})
    expect(Object.keys(entry.record)).not.toContain('digest')
    expect(Object.keys(entry.record)).not.toContain('budgetSpent')
    expect(Object.keys(group?.record ?? {})).not.toContain('budgetSpent')
  })

  test('keep spend, reservations and windows when the record is replaced', () => {
    const limits = { budgetMax: usd(1), rpmLimit: 2, tpmLimit: 1_000_000 }
    const { accounts, entry, group } = registryWith(limits, {})
    ask(accounts, 100_000).settle({ cost: usd(0.25), tokens: 100_000 })
    ask(accounts, 500_000)
    accounts.putKey(keyRow({ ...limits, groupId, name: 'new', budgetSpent: usd(9) }))
    accounts.putGroup(groupRow({ name: 'new', budgetSpent: usd(9) }))
    accounts.load({
      keys: [keyRow({ ...limits, groupId, name: 'newer', budgetSpent: usd(9) })],
      groups: [groupRow({ budgetSpent: usd(9) })],
    })
    expect(accounts.getKey(keyId)).toBe(entry)
    expect(entry).toMatchObject({ spent: usd(0.25), reserved: usd(0.5), record: { name: 'newer' } })
    expect(group?.spent).toBe(usd(0.25))
    expect(refusal(() => ask(accounts, 1)).code).toBe('LM-4002')
    accounts.putKey(keyRow({ ...limits, rpmLimit: 9 }))
    expect(refusal(() => ask(accounts, 400_001)).code).toBe('LM-4003')
    expect(refusal(() => ask(accounts, 250_001)).code).toBe('LM-4001')
    ask(accounts, 250_000)
  })

  test('obey a new cap and new limits from the next request on', () => {
    const { accounts } = registryWith({ budgetMax: usd(1) })
    refusal(() => ask(accounts, 1_500_000))
    accounts.putKey(keyRow({ budgetMax: usd(2) }))
    const admission = ask(accounts, 1_500_000)
    accounts.putKey(keyRow({ budgetMax: null }))
    ask(accounts, 9_000_000)
    accounts.putKey(keyRow({ budgetMax: usd(1) }))
    expect(refusal(() => ask(accounts, 0)).detail.fields).toMatchObject({ reserved: 1.5 })
    admission.withdraw()
    ask(accounts, 1_000_000)
  })

  test('count their changes, so that rows read before one can be told from later ones', () => {
    const { accounts } = registryWith({}, {})
    const before = accounts.changes
    accounts.putKey(keyRow())
    accounts.putGroup(groupRow())
    expect(accounts.changes).toBe(before + 2)
    accounts.load({ keys: [keyRow()], groups: [groupRow()] })
    expect(accounts.changes).toBe(before + 2)
  })

  test('a deleted key is charged for the requests that it still has', () => {
    const { accounts, entry } = registryWith({})
    const admission = ask(accounts, 1)
    accounts.putKey(keyRow({ deletedAt: 1 }))
    admission.settle({ cost: usd(1), tokens: undefined })
    expect(entry.spent).toBe(usd(1))
  })
})

describe('the watch', () => {
  test('is told of what is loaded, created and replaced', () => {
    const { accounts, watch } = registryWith({ budgetSpent: usd(2) }, { budgetMax: usd(5) })
    accounts.putKey(keyRow({ id: idOf('3') }))
    accounts.putKey(keyRow({ name: 'new', budgetMax: usd(7) }))
    const key = { scope: 'key', id: keyId, name: 'a key', budgetMax: null, spent: usd(2) }
    expect(watch.told).toEqual([
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

  test('is told of charges and of refusals by a budget, each with the sums of its moment', () => {
    const { accounts, watch, entry } = registryWith({ rpmLimit: 2 }, { budgetMax: usd(1) })
    watch.told.length = 0
    ask(accounts, 1_000_000).settle({ cost: usd(0.5), tokens: undefined })
    refusal(() => ask(accounts, 1_000_000))
    ask(accounts, 1).settle({ cost: nano(0), tokens: undefined })
    expect(refusal(() => ask(accounts, 1)).code).toBe('LM-4002')
    expect(watch.told).toMatchObject([
      { of: 'charged', scope: 'key', spent: usd(0.5) },
      { of: 'charged', scope: 'group', spent: usd(0.5) },
      { of: 'refused', scope: 'group', spent: usd(0.5) },
    ])
    expect(getEntry(accounts)).toBe(entry)
  })
})
