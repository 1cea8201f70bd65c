import { beforeEach, describe, expect, test } from 'vitest'
import { blake3Hex } from '../../src/wire/digest.ts'
import { unlimitedFields } from '../support/unlimited.ts'
import { AdminHarness, refusal } from './harness.ts'

let admin: AdminHarness

beforeEach(() => {
  admin = new AdminHarness()
})

const unknownId = '0'.repeat(32)
const noSuchKey = [400, 'LM-1001', 'id']

describe('POST /admin/keys', () => {
  test('creating a key answers 201 with the record and a secret that is valid on the data plane', async () => {
    const { id: group } = await admin.newGroup()
    const answer = await admin.call('POST', '/admin/keys', {
      body: {
        name: 'Team Ä',
        budget_max: 12.5,
        rpm_limit: 60,
        tpm_limit: 100_000,
        expires_at: admin.now + 60,
        group_id: group,
      },
    })
    expect(answer.status).toBe(201)
    expect(answer.headers).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'no-store',
    })
    expect(answer.json).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      name: 'Team Ä',
      group_id: group,
      ...unlimitedFields,
      budget_max: 12.5,
      budget_spent: 0,
      rpm_limit: 60,
      tpm_limit: 100_000,
      expires_at: admin.now + 60,
      disabled: false,
      grace_ends_at: null,
      created_at: admin.now,
      deleted_at: null,
      key: expect.stringMatching(/^sk-gw-[0-9a-f]{64}$/),
    })
    expect(admin.accepts(answer.json.key)).toBe(true)
  })

  test('an absent or null field means no limit and no group', async () => {
    const none = { budget_max: null, rpm_limit: null, tpm_limit: null, expires_at: null }
    const bare = await admin.newKey()
    expect(bare).toMatchObject({ ...none, group_id: null })
    const explicit = await admin.newKey({ ...none, group_id: null })
    expect(explicit).toMatchObject({ ...none, group_id: null })
  })

  test('the BLAKE3 digest of the secret is stored, and the secret is not', async () => {
    const { id, key = '' } = await admin.newKey()
    expect(admin.store.keys.get(id)?.digest).toBe(blake3Hex(key))
    const kept = [
      ...admin.store.keys.values(),
      ...admin.accounts.listKeys().map(({ record }) => record),
    ]
    const text = JSON.stringify(kept, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    expect(text).not.toContain(key.slice(6))
  })

  test('a key can be created with an expiry in the past', async () => {
    const { key } = await admin.newKey({ expires_at: 0 })
    expect(admin.accepts(key)).toBe(false)
  })

  test('a key is not created in an unknown, malformed or deleted group', async () => {
    const { id: deleted } = await admin.newGroup()
    await admin.done('DELETE', `/admin/groups/${deleted}`)
    for (const group of [unknownId, 'no-id', '', deleted]) {
      const answer = await admin.call('POST', '/admin/keys', {
        body: { name: 'k', group_id: group },
      })
      expect(refusal(answer)).toEqual([400, 'LM-1001', 'group_id'])
    }
    expect(admin.store.keys.size).toBe(0)
    expect(admin.accounts.listKeys()).toEqual([])
  })

  test('a key that cannot be stored is LM-5003 and leaves nothing behind', async () => {
    admin.store.trouble = 'refuse'
    const answer = await admin.call('POST', '/admin/keys', { body: { name: 'k' } })
    expect([answer.status, answer.json.error.code]).toEqual([503, 'LM-5003'])
    expect(admin.accounts.listKeys()).toEqual([])
  })
})

describe('GET /admin/keys', () => {
  test('keys are listed in order of creation, without secrets and digests', async () => {
    const created = [await admin.newKey(), await admin.newKey(), await admin.newKey()]
    await admin.done('PATCH', `/admin/keys/${created[0]?.id}`, { name: 'renamed' })
    const { keys } = await admin.done('GET', '/admin/keys')
    expect(keys.map(({ id }) => id)).toEqual(created.map(({ id }) => id))
    expect(keys.map(({ name }) => name)).toEqual(['renamed', 'k', 'k'])
    const { text } = await admin.call('GET', '/admin/keys')
    for (const { id, key = '' } of created) {
      expect(text).not.toContain(key.slice(6))
      expect(text).not.toContain(admin.store.keys.get(id)?.digest)
    }
  })

  test('the list is empty when there are no keys', async () => {
    expect(await admin.done('GET', '/admin/keys')).toEqual({ keys: [] })
  })

  test('tombstones are listed in order, only on request', async () => {
    const [first, second] = [await admin.newKey(), await admin.newKey()]
    await admin.done('DELETE', `/admin/keys/${first.id}`)
    const ids = async (query: string) =>
      (await admin.done('GET', `/admin/keys${query}`)).keys.map(({ id }) => id)
    expect(await ids('')).toEqual([second.id])
    expect(await ids('?include_deleted=false')).toEqual([second.id])
    expect(await ids('?include_deleted=true')).toEqual([first.id, second.id])
  })
})

describe('GET /admin/keys/{id}', () => {
  test('a key is shown with its current spend', async () => {
    const { key: _, ...record } = await admin.newKey({ budget_max: 1 })
    admin.charge(record.id, 1n)
    expect(await admin.done('GET', `/admin/keys/${record.id}`)).toEqual({
      ...record,
      budget_spent: 1e-9,
      spent_total: 1e-9,
    })
  })

  test('the tombstone of a deleted key is shown', async () => {
    const { key: _, ...record } = await admin.newKey()
    await admin.clock.advance(5000)
    await admin.done('DELETE', `/admin/keys/${record.id}`)
    expect(await admin.done('GET', `/admin/keys/${record.id}`)).toEqual({
      ...record,
      deleted_at: record.created_at + 5,
    })
  })
})

describe('PATCH /admin/keys/{id}', () => {
  test.each([
    { name: 'renamed' },
    { budget_max: 0 },
    { budget_max: 0.000000001 },
    { rpm_limit: 0 },
    { tpm_limit: 9_007_199_254_740_991 },
    { expires_at: 0 },
    { disabled: true },
    { name: 'both', budget_max: 7, rpm_limit: 3 },
  ])('a change of %o changes nothing else', async (change) => {
    const limits = { budget_max: 5, rpm_limit: 1, tpm_limit: 2, expires_at: admin.now + 9 }
    const { key: _, ...record } = await admin.newKey(limits)
    const changed = await admin.done('PATCH', `/admin/keys/${record.id}`, change)
    expect(changed).toEqual({ ...record, ...change })
    expect(await admin.done('GET', `/admin/keys/${record.id}`)).toEqual(changed)
  })

  test.each(['budget_max', 'rpm_limit', 'tpm_limit', 'expires_at'])(
    'a change to null makes %s unlimited again',
    async (field) => {
      const limits = { budget_max: 5, rpm_limit: 1, tpm_limit: 2, expires_at: admin.now + 9 }
      const { key: _, ...record } = await admin.newKey(limits)
      const changed = await admin.done('PATCH', `/admin/keys/${record.id}`, { [field]: null })
      expect(changed).toEqual({ ...record, [field]: null })
    },
  )

  test('a change without a field changes nothing', async () => {
    const { key, ...record } = await admin.newKey({ budget_max: 5, rpm_limit: 1 })
    expect(await admin.done('PATCH', `/admin/keys/${record.id}`, {})).toEqual(record)
    expect(admin.accepts(key)).toBe(true)
    expect(admin.events).toEqual([])
  })

  test('a key keeps its group without group_id, leaves it with null, and joins another', async () => {
    const [one, two] = [await admin.newGroup(), await admin.newGroup()]
    const { id } = await admin.newKey({ group_id: one.id })
    const groupAfter = async (change: object) =>
      (await admin.done('PATCH', `/admin/keys/${id}`, change)).group_id
    expect(await groupAfter({ name: 'x' })).toBe(one.id)
    expect(await groupAfter({ group_id: two.id })).toBe(two.id)
    expect(await groupAfter({ group_id: null })).toBeNull()
    expect(await groupAfter({ group_id: one.id })).toBe(one.id)
  })

  test('joining an unknown or deleted group changes nothing, not even the name', async () => {
    const { id: deleted } = await admin.newGroup()
    await admin.done('DELETE', `/admin/groups/${deleted}`)
    const { key: _, ...record } = await admin.newKey()
    for (const group of [unknownId, 'no-id', deleted]) {
      const answer = await admin.call('PATCH', `/admin/keys/${record.id}`, {
        body: { name: 'renamed', group_id: group },
      })
      expect(refusal(answer)).toEqual([400, 'LM-1001', 'group_id'])
    }
    expect(await admin.done('GET', `/admin/keys/${record.id}`)).toEqual(record)
  })

  test('a change keeps the spend and sets the cap', async () => {
    const { id } = await admin.newKey({ budget_max: 5 })
    admin.charge(id, 2_500_000_000n)
    const changed = await admin.done('PATCH', `/admin/keys/${id}`, { budget_max: 1 })
    expect(changed).toMatchObject({ budget_max: 1, budget_spent: 2.5 })
  })

  test('disabling, enabling and expiry apply from the next request on', async () => {
    const { id, key } = await admin.newKey()
    const opensAfter = async (change: object) => {
      await admin.done('PATCH', `/admin/keys/${id}`, change)
      return admin.accepts(key)
    }
    expect(await opensAfter({ disabled: true })).toBe(false)
    expect(await opensAfter({ name: 'still disabled' })).toBe(false)
    expect(await opensAfter({ disabled: false })).toBe(true)
    expect(await opensAfter({ expires_at: admin.now })).toBe(false)
    expect(await opensAfter({ expires_at: admin.now + 1 })).toBe(true)
    expect(await opensAfter({ expires_at: null })).toBe(true)
  })

  test('a key that was created by another process can be changed, and is then in memory', async () => {
    const { id, key } = await admin.newKey()
    const row = admin.store.keys.get(id)
    if (!row) throw new Error('the key is not stored')
    const other = new AdminHarness()
    other.store.addKey(row)
    expect(refusal(await other.call('GET', `/admin/keys/${id}`))).toEqual(noSuchKey)
    expect(await other.done('PATCH', `/admin/keys/${id}`, { name: 'found' })).toMatchObject({
      name: 'found',
    })
    expect(other.accepts(key)).toBe(true)
  })
})

describe('POST /admin/keys/{id}/rotate', () => {
  test('a rotation answers 200 with the record and a new secret, the only valid one', async () => {
    const { key: old, ...record } = await admin.newKey({ budget_max: 5, rpm_limit: 1 })
    admin.charge(record.id, 1_000_000_000n)
    const answer = await admin.call('POST', `/admin/keys/${record.id}/rotate`)
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store' })
    const { key: fresh, ...rotated } = answer.json
    expect(rotated).toEqual({ ...record, budget_spent: 1, spent_total: 1 })
    expect(fresh).toMatch(/^sk-gw-[0-9a-f]{64}$/)
    expect(fresh).not.toBe(old)
    expect([admin.accepts(old), admin.accepts(fresh)]).toEqual([false, true])
  })

  test('a rotation of a disabled key leaves it disabled', async () => {
    const { id } = await admin.newKey()
    await admin.done('PATCH', `/admin/keys/${id}`, { disabled: true })
    const { key, disabled } = await admin.done('POST', `/admin/keys/${id}/rotate`)
    expect([disabled, admin.accepts(key)]).toEqual([true, false])
    await admin.done('PATCH', `/admin/keys/${id}`, { disabled: false })
    expect(admin.accepts(key)).toBe(true)
  })

  test('a rotation that cannot be stored leaves the old secret valid', async () => {
    const { id, key } = await admin.newKey()
    admin.store.trouble = 'refuse'
    expect((await admin.call('POST', `/admin/keys/${id}/rotate`)).status).toBe(503)
    expect(admin.accepts(key)).toBe(true)
  })
})

describe('DELETE /admin/keys/{id}', () => {
  test('deleting a key answers 204 without a body and revokes the key', async () => {
    const { id, key } = await admin.newKey()
    const answer = await admin.call('DELETE', `/admin/keys/${id}`)
    expect([answer.status, answer.text, answer.headers]).toEqual([204, '', {}])
    expect(admin.accepts(key)).toBe(false)
  })

  test('deleting a key saves its spend before the response', async () => {
    const { id } = await admin.newKey()
    await admin.done('DELETE', `/admin/keys/${id}`)
    expect(admin.flushes).toBe(1)
  })

  test('deleting a key succeeds even if its spend cannot be saved', async () => {
    const { id, key } = await admin.newKey()
    admin.flush = () => Promise.reject(new Error('the database is out'))
    expect((await admin.call('DELETE', `/admin/keys/${id}`)).status).toBe(204)
    expect(admin.accepts(key)).toBe(false)
    expect(admin.events.map(({ type }) => type)).toEqual(['key.deleted'])
  })

  test('a disabled key can be deleted', async () => {
    const { id } = await admin.newKey()
    await admin.done('PATCH', `/admin/keys/${id}`, { disabled: true })
    expect((await admin.call('DELETE', `/admin/keys/${id}`)).status).toBe(204)
  })

  test('after its last key is deleted, a group can be deleted', async () => {
    const group = await admin.newGroup()
    const { id } = await admin.newKey({ group_id: group.id })
    expect((await admin.call('DELETE', `/admin/groups/${group.id}`)).status).toBe(400)
    await admin.done('DELETE', `/admin/keys/${id}`)
    expect((await admin.call('DELETE', `/admin/groups/${group.id}`)).status).toBe(204)
  })
})

describe('POST /admin/keys/{id}/grant', () => {
  test('a grant to a key adds to the cap and changes nothing else', async () => {
    const { key, ...record } = await admin.newKey({ budget_max: 0.1, rpm_limit: 5 })
    admin.charge(record.id, 100_000_000n)
    const answer = await admin.call('POST', `/admin/keys/${record.id}/grant`, {
      body: { amount: 0.2 },
    })
    expect(answer.status).toBe(200)
    // Not 0.30000000000000004.
    expect(answer.json).toEqual({ ...record, budget_max: 0.3, budget_spent: 0.1, spent_total: 0.1 })
    expect(admin.accepts(key)).toBe(true)
  })

  test('a grant without a cap is refused and sets none', async () => {
    const { id } = await admin.newKey()
    const answer = await admin.call('POST', `/admin/keys/${id}/grant`, { body: { amount: 1 } })
    expect(refusal(answer)).toEqual([400, 'LM-1001', 'amount'])
    expect(admin.caps(id)).toEqual([null, null])
  })

  test('a grant beyond 1e12 dollars is refused and changes nothing', async () => {
    const { id } = await admin.newKey({ budget_max: 1e12 })
    const answer = await admin.call('POST', `/admin/keys/${id}/grant`, { body: { amount: 1e-9 } })
    expect(refusal(answer)).toEqual([400, 'LM-1001', 'amount'])
    expect(admin.caps(id)).toEqual([10n ** 21n, 10n ** 21n])
  })

  test('a grant adds to a cap of 0', async () => {
    const { id } = await admin.newKey({ budget_max: 0 })
    const { budget_max } = await admin.done('POST', `/admin/keys/${id}/grant`, { amount: 1e-9 })
    expect(budget_max).toBe(1e-9)
  })
})

describe('events', () => {
  const event = (type: string, id: string, name = 'k') => ({
    type,
    scope: 'key',
    subjectId: id,
    name,
    budgetMax: 5_000_000_000n,
    budgetSpent: 1n,
    threshold: null,
    timestamp: admin.now,
  })

  test('disabling a key emits one event even when repeated, and another after enabling it', async () => {
    const { id } = await admin.newKey({ budget_max: 5 })
    admin.charge(id, 1n)
    const patch = (change: object) => admin.done('PATCH', `/admin/keys/${id}`, change)
    await patch({ disabled: true, name: 'renamed' })
    await patch({ disabled: true })
    await patch({ name: 'again' })
    expect(admin.events).toEqual([event('key.disabled', id, 'renamed')])
    await patch({ disabled: false })
    await patch({ disabled: true })
    expect(admin.events.slice(1)).toEqual([event('key.disabled', id, 'again')])
  })

  test('a rotation and a deletion emit events', async () => {
    const { id } = await admin.newKey({ budget_max: 5 })
    admin.charge(id, 1n)
    await admin.done('POST', `/admin/keys/${id}/rotate`)
    await admin.done('DELETE', `/admin/keys/${id}`)
    expect(admin.events).toEqual([event('key.rotated', id), event('key.deleted', id)])
  })

  test('other changes and failed changes emit no events', async () => {
    const { id } = await admin.newKey({ budget_max: 5 })
    await admin.done('PATCH', `/admin/keys/${id}`, { disabled: false })
    await admin.done('POST', `/admin/keys/${id}/grant`, { amount: 1 })
    await admin.done('GET', `/admin/keys/${id}`)
    admin.store.trouble = 'refuse'
    await admin.call('PATCH', `/admin/keys/${id}`, { body: { disabled: true } })
    await admin.call('POST', `/admin/keys/${id}/rotate`)
    await admin.call('DELETE', `/admin/keys/${id}`)
    expect(admin.events).toEqual([])
  })
})

const writes: readonly { method: string; action: string; body?: object }[] = [
  { method: 'PATCH', action: '', body: {} },
  { method: 'PATCH', action: '', body: { name: 'x' } },
  { method: 'DELETE', action: '' },
  { method: 'POST', action: '/rotate' },
  { method: 'POST', action: '/grant', body: { amount: 1 } },
]

describe('an id that is unknown, deleted or none is LM-1001', () => {
  test.each(writes)(
    '$method $action $body with an unknown key id is LM-1001',
    async ({ method, action, body }) => {
      const { id: deleted } = await admin.newKey({ budget_max: 1 })
      await admin.done('DELETE', `/admin/keys/${deleted}`)
      admin.events.length = 0
      const { text: before } = await admin.call('GET', '/admin/keys?include_deleted=true')
      const ids = [unknownId, deleted, deleted.toUpperCase(), 'x', '%00', 'a%2Fb', "'%20OR%201=1"]
      for (const id of ids) {
        const answer = await admin.call(method, `/admin/keys/${id}${action}`, { body })
        expect(refusal(answer), id).toEqual(noSuchKey)
      }
      const { text: after } = await admin.call('GET', '/admin/keys?include_deleted=true')
      expect(after).toBe(before)
      expect(admin.events).toEqual([])
    },
  )

  test.each([unknownId, 'x', '__proto__', 'constructor'])(
    'GET of the unknown key id %s is LM-1001',
    async (id) => {
      expect(refusal(await admin.call('GET', `/admin/keys/${id}`))).toEqual(noSuchKey)
    },
  )
})
