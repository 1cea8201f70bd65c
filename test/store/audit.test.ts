import { describe, expect, test } from 'vitest'
import type { AuditAction, AuditEntry } from '../../src/core/audit.ts'
import type { AuditQuery } from '../../src/store/index.ts'
import { auditEntry } from '../support/audit.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { groupId, keyId, newGroup, newKey, usd } from './support/rows.ts'

const all: AuditQuery = { since: 0, until: 9_999, cursor: 0, limit: 100 }

function entry(action: AuditAction, subjectId: string | null = 'a'): AuditEntry {
  return { ...auditEntry, action, subjectId }
}

describe('a write with an audit row', () => {
  test('adds the row when it changes something', async () => {
    const store = new MemoryStore()
    const audited = (given: AuditEntry) => store.audited(given)
    await audited(entry('group.create', 'g')).createGroup(newGroup('g', { budgetMax: usd(1) }))
    await audited(entry('group.update', 'g')).updateGroup(groupId('g'), { name: 'h' })
    await audited(entry('group.grant', 'g')).grantGroup(groupId('g'), usd(1))
    await audited(entry('key.create')).createKey(newKey('a', { budgetMax: usd(1) }))
    await audited(entry('key.update')).updateKey(keyId('a'), { name: 'b' })
    await audited(entry('key.rotate')).rotateKey(keyId('a'), { digest: 'new', graceEndsAt: null })
    await audited(entry('key.grant')).grantKey(keyId('a'), usd(1))
    expect(await audited(entry('key.delete')).deleteKey(keyId('a'), 5)).toMatchObject({
      name: 'b',
      digest: 'new',
      budgetMax: usd(2),
      deletedAt: 5,
    })
    await audited(entry('group.delete', 'g')).deleteGroup(groupId('g'), 5)
    const label = { purpose: 'provider-key', name: 'p' } as const
    await audited(entry('provider_key.store', 'p')).putSealed({
      ...label,
      sealed: 's',
      updatedAt: 1,
    })
    expect(await audited(entry('provider_key.delete', 'p')).deleteSealed(label.purpose, 'p')).toBe(
      true,
    )
    const settings = { enabled: false, settings: 'null', updatedAt: 1 }
    await audited(entry('webhooks.disable', null)).putWebhookSettings(settings)
    const rows = await store.listAudit(all)
    expect(rows.map(({ id, action, subjectId }) => [id, action, subjectId])).toEqual([
      [1, 'group.create', 'g'],
      [2, 'group.update', 'g'],
      [3, 'group.grant', 'g'],
      [4, 'key.create', 'a'],
      [5, 'key.update', 'a'],
      [6, 'key.rotate', 'a'],
      [7, 'key.grant', 'a'],
      [8, 'key.delete', 'a'],
      [9, 'group.delete', 'g'],
      [10, 'provider_key.store', 'p'],
      [11, 'provider_key.delete', 'p'],
      [12, 'webhooks.disable', null],
    ])
    expect(rows[0]).toEqual({ ...entry('group.create', 'g'), id: 1 })
  })

  test('adds no row when it changes nothing', async () => {
    const store = new MemoryStore()
    const audited = (given: AuditEntry) => store.audited(given)
    await store.createKey(newKey('a'))
    await audited(entry('key.create')).createKey(newKey('b', { groupId: groupId('none') }))
    await audited(entry('key.update')).updateKey(keyId('none'), { name: 'b' })
    await audited(entry('key.rotate')).rotateKey(keyId('none'), {
      digest: 'new',
      graceEndsAt: null,
    })
    await audited(entry('key.delete')).deleteKey(keyId('none'), 5)
    expect(await audited(entry('key.grant')).grantKey(keyId('a'), usd(1))).toBe('no-cap')
    await audited(entry('provider_key.delete')).deleteSealed('provider-key', 'none')
    expect(await store.listAudit(all)).toEqual([])
  })

  test('leaves no trace of either when the audit row cannot be written', async () => {
    const store = new MemoryStore()
    await store.createKey(newKey('a'))
    store.run('alter table audit_log rename to elsewhere')
    const deletion = store.audited(entry('key.delete')).deleteKey(keyId('a'), 5)
    await expect(deletion).rejects.toThrow(/Failed query/)
    expect((await store.readAccounts()).keys[0]?.deletedAt).toBeNull()
  })
})

test('rows are listed by time, action, subject and page, and purged by time', async () => {
  const store = new MemoryStore()
  for (const [ts, action, subjectId] of [
    [1, 'key.create', 'a'],
    [2, 'key.create', 'b'],
    [3, 'key.delete', 'a'],
    [4, 'cache.clear', null],
  ] as const) {
    await store.addAudit({ ...auditEntry, ts, action, subjectId })
  }
  const ids = async (query: Partial<AuditQuery>) =>
    (await store.listAudit({ ...all, ...query })).map(({ id }) => id)
  expect(await ids({ since: 2, until: 3 })).toEqual([2, 3])
  expect(await ids({ action: 'key.create' })).toEqual([1, 2])
  expect(await ids({ subjectId: 'a' })).toEqual([1, 3])
  expect(await ids({ cursor: 1, limit: 2 })).toEqual([2, 3])
  expect([await store.purgeAudit(4, 2), await store.purgeAudit(4, 2)]).toEqual([2, 1])
  expect(await ids({})).toEqual([4])
})
