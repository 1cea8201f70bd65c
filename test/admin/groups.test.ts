import { beforeEach, describe, expect, test } from 'vitest'
import { AdminHarness, refusal } from './harness.ts'

let desk: AdminHarness

beforeEach(() => {
  desk = new AdminHarness()
})

const unknownId = 'f'.repeat(32)
const noSuchGroup = [400, 'LM-1001', 'id']

describe('POST /admin/groups', () => {
  test('answers 201 with the whole record', async () => {
    const answer = await desk.call('POST', '/admin/groups', {
      body: { name: 'Pool 🏊', budget_max: 1e12 },
    })
    expect(answer.status).toBe(201)
    expect(answer.json).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      name: 'Pool 🏊',
      budget_max: 1e12,
      budget_spent: 0,
      created_at: desk.now,
      deleted_at: null,
    })
  })

  test('without a cap makes a group that only attributes', async () => {
    expect(await desk.newGroup()).toMatchObject({ budget_max: null })
    expect(await desk.newGroup({ budget_max: null })).toMatchObject({ budget_max: null })
  })

  test('makes a group that keys can join at once', async () => {
    const { id } = await desk.newGroup()
    expect(await desk.newKey({ group_id: id })).toMatchObject({ group_id: id })
  })
})

describe('GET /admin/groups', () => {
  test('lists the groups in order of creation, tombstones only when asked for', async () => {
    const created = [await desk.newGroup(), await desk.newGroup(), await desk.newGroup()]
    const [first, second, third] = created.map(({ id }) => id)
    await desk.done('PATCH', `/admin/groups/${first}`, { name: 'renamed' })
    await desk.done('DELETE', `/admin/groups/${second}`)
    const ids = async (query: string) =>
      (await desk.done('GET', `/admin/groups${query}`)).groups.map(({ id }) => id)
    expect(await ids('')).toEqual([first, third])
    expect(await ids('?include_deleted=false')).toEqual([first, third])
    expect(await ids('?include_deleted=true')).toEqual([first, second, third])
  })

  test('of nothing is an empty list', async () => {
    expect(await desk.done('GET', '/admin/groups')).toEqual({ groups: [] })
  })
})

describe('GET /admin/groups/{id}', () => {
  test('shows the group with what its pool has spent up to now', async () => {
    const record = await desk.newGroup({ budget_max: 3 })
    desk.chargeGroup(record.id, 1_500_000_001n)
    expect(await desk.done('GET', `/admin/groups/${record.id}`)).toEqual({
      ...record,
      budget_spent: 1.500000001,
    })
  })

  test('shows the tombstone of a deleted group', async () => {
    const record = await desk.newGroup()
    await desk.clock.advance(7000)
    await desk.done('DELETE', `/admin/groups/${record.id}`)
    expect(await desk.done('GET', `/admin/groups/${record.id}`)).toEqual({
      ...record,
      deleted_at: record.created_at + 7,
    })
  })
})

describe('PATCH /admin/groups/{id}', () => {
  test.each([
    {},
    { name: 'renamed' },
    { budget_max: 0 },
    { budget_max: null },
    { name: 'x', budget_max: 2 },
  ])('%o changes that and nothing else', async (change) => {
    const record = await desk.newGroup({ budget_max: 5 })
    desk.chargeGroup(record.id, 2_000_000_000n)
    const changed = await desk.done('PATCH', `/admin/groups/${record.id}`, change)
    expect(changed).toEqual({ ...record, budget_spent: 2, ...change })
    expect(await desk.done('GET', `/admin/groups/${record.id}`)).toEqual(changed)
  })
})

describe('DELETE /admin/groups/{id}', () => {
  test('answers 204 without a body, and saves what was spent before', async () => {
    const { id } = await desk.newGroup()
    const answer = await desk.call('DELETE', `/admin/groups/${id}`)
    expect([answer.status, answer.text, answer.headers]).toEqual([204, '', {}])
    expect(desk.flushes).toBe(1)
  })

  test('succeeds although what was spent cannot be saved just now', async () => {
    const { id } = await desk.newGroup()
    desk.flush = () => Promise.reject(new Error('the database is out'))
    expect((await desk.call('DELETE', `/admin/groups/${id}`)).status).toBe(204)
  })

  test('is refused while a key is a member, a disabled and an expired one included', async () => {
    const { id } = await desk.newGroup()
    const member = await desk.newKey({ group_id: id })
    for (const change of [{}, { disabled: true }, { expires_at: 0 }]) {
      await desk.done('PATCH', `/admin/keys/${member.id}`, change)
      expect(refusal(await desk.call('DELETE', `/admin/groups/${id}`))).toEqual([
        400,
        'LM-1001',
        null,
      ])
    }
    expect(await desk.done('GET', `/admin/groups/${id}`)).toMatchObject({ deleted_at: null })
    await desk.done('PATCH', `/admin/keys/${member.id}`, { group_id: null })
    expect((await desk.call('DELETE', `/admin/groups/${id}`)).status).toBe(204)
  })
})

describe('POST /admin/groups/{id}/grant', () => {
  test('adds to the cap and touches nothing else', async () => {
    const record = await desk.newGroup({ budget_max: 999_999_999_999.9 })
    desk.chargeGroup(record.id, 1n)
    const answer = await desk.call('POST', `/admin/groups/${record.id}/grant`, {
      body: { amount: 0.1 },
    })
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({ ...record, budget_max: 1e12, budget_spent: 1e-9 })
  })

  test.each([
    ['there is no cap', {}, 1],
    ['the cap would pass 1e12', { budget_max: 5e11 }, 5.000001e11],
  ])('is refused where %s, which stays as it is', async (_, body, amount) => {
    const record = await desk.newGroup(body)
    const answer = await desk.call('POST', `/admin/groups/${record.id}/grant`, { body: { amount } })
    expect(refusal(answer)).toEqual([400, 'LM-1001', 'amount'])
    expect(await desk.done('GET', `/admin/groups/${record.id}`)).toEqual(record)
  })
})

test('nobody is told of what becomes of groups', async () => {
  const { id } = await desk.newGroup({ budget_max: 1 })
  await desk.done('PATCH', `/admin/groups/${id}`, { name: 'x' })
  await desk.done('POST', `/admin/groups/${id}/grant`, { amount: 1 })
  await desk.done('DELETE', `/admin/groups/${id}`)
  expect(desk.events).toEqual([])
})

const writes: readonly { method: string; action: string; body?: object }[] = [
  { method: 'PATCH', action: '', body: {} },
  { method: 'PATCH', action: '', body: { name: 'x' } },
  { method: 'DELETE', action: '' },
  { method: 'POST', action: '/grant', body: { amount: 1 } },
]

describe('an id that is unknown, deleted or none is LM-1001', () => {
  test.each(writes)('for $method $action $body', async ({ method, action, body }) => {
    const { id: deleted } = await desk.newGroup({ budget_max: 1 })
    await desk.done('DELETE', `/admin/groups/${deleted}`)
    const { text: before } = await desk.call('GET', '/admin/groups?include_deleted=true')
    for (const id of [unknownId, deleted, deleted.toUpperCase(), 'x', '%00', 'a%2Fb']) {
      const answer = await desk.call(method, `/admin/groups/${id}${action}`, { body })
      expect(refusal(answer), id).toEqual(noSuchGroup)
    }
    const { text: after } = await desk.call('GET', '/admin/groups?include_deleted=true')
    expect(after).toBe(before)
  })

  test.each([unknownId, 'x', '__proto__'])('for GET of %s', async (id) => {
    expect(refusal(await desk.call('GET', `/admin/groups/${id}`))).toEqual(noSuchGroup)
  })

  test('for the id of a key', async () => {
    const { id } = await desk.newKey()
    expect(refusal(await desk.call('GET', `/admin/groups/${id}`))).toEqual(noSuchGroup)
    expect(refusal(await desk.call('PATCH', `/admin/groups/${id}`, { body: {} }))).toEqual(
      noSuchGroup,
    )
  })
})
