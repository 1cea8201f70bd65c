import { beforeEach, describe, expect, test } from 'vitest'
import { blake3Hex } from '../../src/wire/digest.ts'
import { AdminHarness, refusal } from './harness.ts'

let desk: AdminHarness

beforeEach(() => {
  desk = new AdminHarness()
})

const unknownId = '0'.repeat(32)
const noSuchKey = [400, 'LM-1001', 'id']

describe('POST /admin/keys', () => {
  test('answers 201 with the whole record and the secret, which opens the data plane', async () => {
    const { id: group } = await desk.newGroup()
    const answer = await desk.call('POST', '/admin/keys', {
      body: {
        name: 'Team Ä',
        budget_max: 12.5,
        rpm_limit: 60,
        tpm_limit: 100_000,
        expires_at: desk.now + 60,
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
      budget_max: 12.5,
      budget_spent: 0,
      rpm_limit: 60,
      tpm_limit: 100_000,
      expires_at: desk.now + 60,
      disabled: false,
      created_at: desk.now,
      deleted_at: null,
      key: expect.stringMatching(/^sk-gw-[0-9a-f]{64}$/),
    })
    expect(desk.opens(answer.json.key)).toBe(true)
  })

  test('takes what is left out, or null, as no limit and no group', async () => {
    const none = { budget_max: null, rpm_limit: null, tpm_limit: null, expires_at: null }
    const bare = await desk.newKey()
    expect(bare).toMatchObject({ ...none, group_id: null })
    const explicit = await desk.newKey({ ...none, group_id: null })
    expect(explicit).toMatchObject({ ...none, group_id: null })
  })

  test('stores the BLAKE3 of the secret, and the secret nowhere', async () => {
    const { id, key = '' } = await desk.newKey()
    expect(desk.store.keys.get(id)?.digest).toBe(blake3Hex(key))
    const kept = [
      ...desk.store.keys.values(),
      ...desk.accounts.listKeys().map(({ record }) => record),
    ]
    const text = JSON.stringify(kept, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    )
    expect(text).not.toContain(key.slice(6))
  })

  test('accepts a time in the past, which means expired', async () => {
    const { key } = await desk.newKey({ expires_at: 0 })
    expect(desk.opens(key)).toBe(false)
  })

  test('writes nothing for an unknown group, a malformed one and a deleted one', async () => {
    const { id: deleted } = await desk.newGroup()
    await desk.done('DELETE', `/admin/groups/${deleted}`)
    for (const group of [unknownId, 'no-id', '', deleted]) {
      const answer = await desk.call('POST', '/admin/keys', {
        body: { name: 'k', group_id: group },
      })
      expect(refusal(answer)).toEqual([400, 'LM-1001', 'group_id'])
    }
    expect(desk.store.keys.size).toBe(0)
    expect(desk.accounts.listKeys()).toEqual([])
  })

  test('that the database does not take leaves nothing behind and is LM-5003', async () => {
    desk.store.trouble = 'refuse'
    const answer = await desk.call('POST', '/admin/keys', { body: { name: 'k' } })
    expect([answer.status, answer.json.error.code]).toEqual([503, 'LM-5003'])
    expect(desk.accounts.listKeys()).toEqual([])
  })
})

describe('GET /admin/keys', () => {
  test('lists the keys in order of creation, without secrets and hashes', async () => {
    const created = [await desk.newKey(), await desk.newKey(), await desk.newKey()]
    await desk.done('PATCH', `/admin/keys/${created[0]?.id}`, { name: 'renamed' })
    const { keys } = await desk.done('GET', '/admin/keys')
    expect(keys.map(({ id }) => id)).toEqual(created.map(({ id }) => id))
    expect(keys.map(({ name }) => name)).toEqual(['renamed', 'k', 'k'])
    const { text } = await desk.call('GET', '/admin/keys')
    for (const { id, key = '' } of created) {
      expect(text).not.toContain(key.slice(6))
      expect(text).not.toContain(desk.store.keys.get(id)?.digest)
    }
  })

  test('of nothing is an empty list', async () => {
    expect(await desk.done('GET', '/admin/keys')).toEqual({ keys: [] })
  })

  test('has tombstones, in their places, only when asked for', async () => {
    const [first, second] = [await desk.newKey(), await desk.newKey()]
    await desk.done('DELETE', `/admin/keys/${first.id}`)
    const ids = async (query: string) =>
      (await desk.done('GET', `/admin/keys${query}`)).keys.map(({ id }) => id)
    expect(await ids('')).toEqual([second.id])
    expect(await ids('?include_deleted=false')).toEqual([second.id])
    expect(await ids('?include_deleted=true')).toEqual([first.id, second.id])
  })
})

describe('GET /admin/keys/{id}', () => {
  test('shows the key with what it has spent up to now', async () => {
    const { key: _, ...record } = await desk.newKey({ budget_max: 1 })
    desk.charge(record.id, 1n)
    expect(await desk.done('GET', `/admin/keys/${record.id}`)).toEqual({
      ...record,
      budget_spent: 1e-9,
    })
  })

  test('shows the tombstone of a deleted key', async () => {
    const { key: _, ...record } = await desk.newKey()
    await desk.clock.advance(5000)
    await desk.done('DELETE', `/admin/keys/${record.id}`)
    expect(await desk.done('GET', `/admin/keys/${record.id}`)).toEqual({
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
  ])('changes %o and nothing else', async (change) => {
    const limits = { budget_max: 5, rpm_limit: 1, tpm_limit: 2, expires_at: desk.now + 9 }
    const { key: _, ...record } = await desk.newKey(limits)
    const changed = await desk.done('PATCH', `/admin/keys/${record.id}`, change)
    expect(changed).toEqual({ ...record, ...change })
    expect(await desk.done('GET', `/admin/keys/${record.id}`)).toEqual(changed)
  })

  test.each(['budget_max', 'rpm_limit', 'tpm_limit', 'expires_at'])(
    'with null makes %s unlimited again',
    async (field) => {
      const limits = { budget_max: 5, rpm_limit: 1, tpm_limit: 2, expires_at: desk.now + 9 }
      const { key: _, ...record } = await desk.newKey(limits)
      const changed = await desk.done('PATCH', `/admin/keys/${record.id}`, { [field]: null })
      expect(changed).toEqual({ ...record, [field]: null })
    },
  )

  test('without a field changes nothing', async () => {
    const { key, ...record } = await desk.newKey({ budget_max: 5, rpm_limit: 1 })
    expect(await desk.done('PATCH', `/admin/keys/${record.id}`, {})).toEqual(record)
    expect(desk.opens(key)).toBe(true)
    expect(desk.events).toEqual([])
  })

  test('keeps the group when group_id is absent, leaves it for null, joins another', async () => {
    const [one, two] = [await desk.newGroup(), await desk.newGroup()]
    const { id } = await desk.newKey({ group_id: one.id })
    const groupAfter = async (change: object) =>
      (await desk.done('PATCH', `/admin/keys/${id}`, change)).group_id
    expect(await groupAfter({ name: 'x' })).toBe(one.id)
    expect(await groupAfter({ group_id: two.id })).toBe(two.id)
    expect(await groupAfter({ group_id: null })).toBeNull()
    expect(await groupAfter({ group_id: one.id })).toBe(one.id)
  })

  test('into an unknown or a deleted group changes nothing, not even the name', async () => {
    const { id: deleted } = await desk.newGroup()
    await desk.done('DELETE', `/admin/groups/${deleted}`)
    const { key: _, ...record } = await desk.newKey()
    for (const group of [unknownId, 'no-id', deleted]) {
      const answer = await desk.call('PATCH', `/admin/keys/${record.id}`, {
        body: { name: 'renamed', group_id: group },
      })
      expect(refusal(answer)).toEqual([400, 'LM-1001', 'group_id'])
    }
    expect(await desk.done('GET', `/admin/keys/${record.id}`)).toEqual(record)
  })

  test('keeps what was spent, and takes the cap as it is', async () => {
    const { id } = await desk.newKey({ budget_max: 5 })
    desk.charge(id, 2_500_000_000n)
    const changed = await desk.done('PATCH', `/admin/keys/${id}`, { budget_max: 1 })
    expect(changed).toMatchObject({ budget_max: 1, budget_spent: 2.5 })
  })

  test('counts from the next request on: disabled, enabled, expired', async () => {
    const { id, key } = await desk.newKey()
    const opensAfter = async (change: object) => {
      await desk.done('PATCH', `/admin/keys/${id}`, change)
      return desk.opens(key)
    }
    expect(await opensAfter({ disabled: true })).toBe(false)
    expect(await opensAfter({ name: 'still disabled' })).toBe(false)
    expect(await opensAfter({ disabled: false })).toBe(true)
    expect(await opensAfter({ expires_at: desk.now })).toBe(false)
    expect(await opensAfter({ expires_at: desk.now + 1 })).toBe(true)
    expect(await opensAfter({ expires_at: null })).toBe(true)
  })

  test('reaches a key that was created elsewhere, and brings it into memory', async () => {
    const { id, key } = await desk.newKey()
    const row = desk.store.keys.get(id)
    if (!row) throw new Error('the key is not stored')
    const other = new AdminHarness()
    other.store.keys.set(id, row)
    expect(refusal(await other.call('GET', `/admin/keys/${id}`))).toEqual(noSuchKey)
    expect(await other.done('PATCH', `/admin/keys/${id}`, { name: 'found' })).toMatchObject({
      name: 'found',
    })
    expect(other.opens(key)).toBe(true)
  })
})

describe('POST /admin/keys/{id}/rotate', () => {
  test('answers 200 with the record and a new secret, the only one that opens', async () => {
    const { key: old, ...record } = await desk.newKey({ budget_max: 5, rpm_limit: 1 })
    desk.charge(record.id, 1_000_000_000n)
    const answer = await desk.call('POST', `/admin/keys/${record.id}/rotate`)
    expect(answer.status).toBe(200)
    expect(answer.headers).toMatchObject({ 'cache-control': 'no-store' })
    const { key: fresh, ...rotated } = answer.json
    expect(rotated).toEqual({ ...record, budget_spent: 1 })
    expect(fresh).toMatch(/^sk-gw-[0-9a-f]{64}$/)
    expect(fresh).not.toBe(old)
    expect([desk.opens(old), desk.opens(fresh)]).toEqual([false, true])
  })

  test('of a disabled key leaves it disabled', async () => {
    const { id } = await desk.newKey()
    await desk.done('PATCH', `/admin/keys/${id}`, { disabled: true })
    const { key, disabled } = await desk.done('POST', `/admin/keys/${id}/rotate`)
    expect([disabled, desk.opens(key)]).toEqual([true, false])
    await desk.done('PATCH', `/admin/keys/${id}`, { disabled: false })
    expect(desk.opens(key)).toBe(true)
  })

  test('that the database does not take leaves the old secret in force', async () => {
    const { id, key } = await desk.newKey()
    desk.store.trouble = 'refuse'
    expect((await desk.call('POST', `/admin/keys/${id}/rotate`)).status).toBe(503)
    expect(desk.opens(key)).toBe(true)
  })
})

describe('DELETE /admin/keys/{id}', () => {
  test('answers 204 without a body, and the key opens nothing any more', async () => {
    const { id, key } = await desk.newKey()
    const answer = await desk.call('DELETE', `/admin/keys/${id}`)
    expect([answer.status, answer.text, answer.headers]).toEqual([204, '', {}])
    expect(desk.opens(key)).toBe(false)
  })

  test('saves what the key has spent before it answers', async () => {
    const { id } = await desk.newKey()
    await desk.done('DELETE', `/admin/keys/${id}`)
    expect(desk.flushes).toBe(1)
  })

  test('succeeds although what was spent cannot be saved just now', async () => {
    const { id, key } = await desk.newKey()
    desk.flush = () => Promise.reject(new Error('the database is out'))
    expect((await desk.call('DELETE', `/admin/keys/${id}`)).status).toBe(204)
    expect(desk.opens(key)).toBe(false)
    expect(desk.events.map(({ type }) => type)).toEqual(['key.deleted'])
  })

  test('of a disabled key is possible', async () => {
    const { id } = await desk.newKey()
    await desk.done('PATCH', `/admin/keys/${id}`, { disabled: true })
    expect((await desk.call('DELETE', `/admin/keys/${id}`)).status).toBe(204)
  })

  test('frees the group for its own deletion', async () => {
    const group = await desk.newGroup()
    const { id } = await desk.newKey({ group_id: group.id })
    expect((await desk.call('DELETE', `/admin/groups/${group.id}`)).status).toBe(400)
    await desk.done('DELETE', `/admin/keys/${id}`)
    expect((await desk.call('DELETE', `/admin/groups/${group.id}`)).status).toBe(204)
  })
})

describe('POST /admin/keys/{id}/grant', () => {
  test('adds to the cap and touches nothing else', async () => {
    const { key, ...record } = await desk.newKey({ budget_max: 0.1, rpm_limit: 5 })
    desk.charge(record.id, 100_000_000n)
    const answer = await desk.call('POST', `/admin/keys/${record.id}/grant`, {
      body: { amount: 0.2 },
    })
    expect(answer.status).toBe(200)
    // Not 0.30000000000000004.
    expect(answer.json).toEqual({ ...record, budget_max: 0.3, budget_spent: 0.1 })
    expect(desk.opens(key)).toBe(true)
  })

  test('is refused where there is no cap, which stays so', async () => {
    const { id } = await desk.newKey()
    const answer = await desk.call('POST', `/admin/keys/${id}/grant`, { body: { amount: 1 } })
    expect(refusal(answer)).toEqual([400, 'LM-1001', 'amount'])
    expect(desk.caps(id)).toEqual([null, null])
  })

  test('is refused where the cap would pass 1e12, which stays as it is', async () => {
    const { id } = await desk.newKey({ budget_max: 1e12 })
    const answer = await desk.call('POST', `/admin/keys/${id}/grant`, { body: { amount: 1e-9 } })
    expect(refusal(answer)).toEqual([400, 'LM-1001', 'amount'])
    expect(desk.caps(id)).toEqual([10n ** 21n, 10n ** 21n])
  })

  test('adds to a cap of 0', async () => {
    const { id } = await desk.newKey({ budget_max: 0 })
    const { budget_max } = await desk.done('POST', `/admin/keys/${id}/grant`, { amount: 1e-9 })
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
    timestamp: desk.now,
  })

  test('tell of a disabling once, however often it is sent, and again after an enabling', async () => {
    const { id } = await desk.newKey({ budget_max: 5 })
    desk.charge(id, 1n)
    const patch = (change: object) => desk.done('PATCH', `/admin/keys/${id}`, change)
    await patch({ disabled: true, name: 'renamed' })
    await patch({ disabled: true })
    await patch({ name: 'again' })
    expect(desk.events).toEqual([event('key.disabled', id, 'renamed')])
    await patch({ disabled: false })
    await patch({ disabled: true })
    expect(desk.events.slice(1)).toEqual([event('key.disabled', id, 'again')])
  })

  test('tell of a rotation and of a deletion', async () => {
    const { id } = await desk.newKey({ budget_max: 5 })
    desk.charge(id, 1n)
    await desk.done('POST', `/admin/keys/${id}/rotate`)
    await desk.done('DELETE', `/admin/keys/${id}`)
    expect(desk.events).toEqual([event('key.rotated', id), event('key.deleted', id)])
  })

  test('tell of nothing else, and of nothing that failed', async () => {
    const { id } = await desk.newKey({ budget_max: 5 })
    await desk.done('PATCH', `/admin/keys/${id}`, { disabled: false })
    await desk.done('POST', `/admin/keys/${id}/grant`, { amount: 1 })
    await desk.done('GET', `/admin/keys/${id}`)
    desk.store.trouble = 'refuse'
    await desk.call('PATCH', `/admin/keys/${id}`, { body: { disabled: true } })
    await desk.call('POST', `/admin/keys/${id}/rotate`)
    await desk.call('DELETE', `/admin/keys/${id}`)
    expect(desk.events).toEqual([])
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
  test.each(writes)('for $method $action $body', async ({ method, action, body }) => {
    const { id: deleted } = await desk.newKey({ budget_max: 1 })
    await desk.done('DELETE', `/admin/keys/${deleted}`)
    desk.events.length = 0
    const { text: before } = await desk.call('GET', '/admin/keys?include_deleted=true')
    const ids = [unknownId, deleted, deleted.toUpperCase(), 'x', '%00', 'a%2Fb', "'%20OR%201=1"]
    for (const id of ids) {
      const answer = await desk.call(method, `/admin/keys/${id}${action}`, { body })
      expect(refusal(answer), id).toEqual(noSuchKey)
    }
    const { text: after } = await desk.call('GET', '/admin/keys?include_deleted=true')
    expect(after).toBe(before)
    expect(desk.events).toEqual([])
  })

  test.each([unknownId, 'x', '__proto__', 'constructor'])('for GET of %s', async (id) => {
    expect(refusal(await desk.call('GET', `/admin/keys/${id}`))).toEqual(noSuchKey)
  })
})
