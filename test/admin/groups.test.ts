import { beforeEach, describe, expect, test } from 'vitest'
import { unlimitedFields } from '../support/unlimited.ts'
import { AdminHarness, refusal } from './harness.ts'

let admin: AdminHarness

beforeEach(() => {
  admin = new AdminHarness()
})

const unknownId = 'f'.repeat(32)
const noSuchGroup = [400, 'LM-1001', 'id']

describe('POST /admin/groups', () => {
  test('creating a group answers 201 with the whole record', async () => {
    const answer = await admin.call('POST', '/admin/groups', {
      body: { name: 'Pool 🏊', budget_max: 1e12 },
    })
    expect(answer.status).toBe(201)
    expect(answer.json).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{32}$/),
      name: 'Pool 🏊',
      ...unlimitedFields,
      budget_max: 1e12,
      budget_spent: 0,
      created_at: admin.now,
      deleted_at: null,
    })
  })

  test('a group without a cap only adds up spend', async () => {
    expect(await admin.newGroup()).toMatchObject({ budget_max: null })
    expect(await admin.newGroup({ budget_max: null })).toMatchObject({ budget_max: null })
  })

  test('keys can join a new group at once', async () => {
    const { id } = await admin.newGroup()
    expect(await admin.newKey({ group_id: id })).toMatchObject({ group_id: id })
  })
})

describe('GET /admin/groups', () => {
  test('groups are listed in order of creation, tombstones only on request', async () => {
    const created = [await admin.newGroup(), await admin.newGroup(), await admin.newGroup()]
    const [first, second, third] = created.map(({ id }) => id)
    await admin.done('PATCH', `/admin/groups/${first}`, { name: 'renamed' })
    await admin.done('DELETE', `/admin/groups/${second}`)
    const ids = async (query: string) =>
      (await admin.done('GET', `/admin/groups${query}`)).groups.map(({ id }) => id)
    expect(await ids('')).toEqual([first, third])
    expect(await ids('?include_deleted=false')).toEqual([first, third])
    expect(await ids('?include_deleted=true')).toEqual([first, second, third])
  })

  test('the list is empty when there are no groups', async () => {
    expect(await admin.done('GET', '/admin/groups')).toEqual({ groups: [] })
  })
})

describe('GET /admin/groups/{id}', () => {
  test('a group is shown with its current spend', async () => {
    const record = await admin.newGroup({ budget_max: 3 })
    admin.chargeGroup(record.id, 1_500_000_001n)
    expect(await admin.done('GET', `/admin/groups/${record.id}`)).toEqual({
      ...record,
      budget_spent: 1.500000001,
      spent_total: 1.500000001,
    })
  })

  test('the tombstone of a deleted group is shown', async () => {
    const record = await admin.newGroup()
    await admin.clock.advance(7000)
    await admin.done('DELETE', `/admin/groups/${record.id}`)
    expect(await admin.done('GET', `/admin/groups/${record.id}`)).toEqual({
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
    { rpm_limit: 3, tpm_limit: 4, max_parallel: 5 },
    { name: 'x', budget_max: 2 },
  ])('a change of %o changes nothing else', async (change) => {
    const record = await admin.newGroup({ budget_max: 5 })
    admin.chargeGroup(record.id, 2_000_000_000n)
    const changed = await admin.done('PATCH', `/admin/groups/${record.id}`, change)
    expect(changed).toEqual({ ...record, budget_spent: 2, spent_total: 2, ...change })
    expect(await admin.done('GET', `/admin/groups/${record.id}`)).toEqual(changed)
  })
})

describe('DELETE /admin/groups/{id}', () => {
  test('deleting a group answers 204 without a body and saves the spend first', async () => {
    const { id } = await admin.newGroup()
    const answer = await admin.call('DELETE', `/admin/groups/${id}`)
    expect([answer.status, answer.text, answer.headers]).toEqual([204, '', {}])
    expect(admin.flushes).toBe(1)
  })

  test('deleting a group succeeds even if the spend cannot be saved', async () => {
    const { id } = await admin.newGroup()
    admin.flush = () => Promise.reject(new Error('the database is out'))
    expect((await admin.call('DELETE', `/admin/groups/${id}`)).status).toBe(204)
  })

  test('a group with keys cannot be deleted, even if they are disabled or expired', async () => {
    const { id } = await admin.newGroup()
    const member = await admin.newKey({ group_id: id })
    for (const change of [{}, { disabled: true }, { expires_at: 0 }]) {
      await admin.done('PATCH', `/admin/keys/${member.id}`, change)
      expect(refusal(await admin.call('DELETE', `/admin/groups/${id}`))).toEqual([
        400,
        'LM-1001',
        null,
      ])
    }
    expect(await admin.done('GET', `/admin/groups/${id}`)).toMatchObject({ deleted_at: null })
    await admin.done('PATCH', `/admin/keys/${member.id}`, { group_id: null })
    expect((await admin.call('DELETE', `/admin/groups/${id}`)).status).toBe(204)
  })
})

describe('POST /admin/groups/{id}/grant', () => {
  test('a grant to a group adds to the cap and changes nothing else', async () => {
    const record = await admin.newGroup({ budget_max: 999_999_999_999.9 })
    admin.chargeGroup(record.id, 1n)
    const answer = await admin.call('POST', `/admin/groups/${record.id}/grant`, {
      body: { amount: 0.1 },
    })
    expect(answer.status).toBe(200)
    expect(answer.json).toEqual({
      ...record,
      budget_max: 1e12,
      budget_spent: 1e-9,
      spent_total: 1e-9,
    })
  })

  test.each([
    ['there is no cap', {}, 1],
    ['the cap would pass 1e12', { budget_max: 5e11 }, 5.000001e11],
  ])('a grant to a group is refused where %s, and changes nothing', async (_, body, amount) => {
    const record = await admin.newGroup(body)
    const answer = await admin.call('POST', `/admin/groups/${record.id}/grant`, {
      body: { amount },
    })
    expect(refusal(answer)).toEqual([400, 'LM-1001', 'amount'])
    expect(await admin.done('GET', `/admin/groups/${record.id}`)).toEqual(record)
  })
})

test('changes of groups emit no events', async () => {
  const { id } = await admin.newGroup({ budget_max: 1 })
  await admin.done('PATCH', `/admin/groups/${id}`, { name: 'x' })
  await admin.done('POST', `/admin/groups/${id}/grant`, { amount: 1 })
  await admin.done('DELETE', `/admin/groups/${id}`)
  expect(admin.events).toEqual([])
})

const writes: readonly { method: string; action: string; body?: object }[] = [
  { method: 'PATCH', action: '', body: {} },
  { method: 'PATCH', action: '', body: { name: 'x' } },
  { method: 'DELETE', action: '' },
  { method: 'POST', action: '/grant', body: { amount: 1 } },
]

describe('an id that is unknown, deleted or none is LM-1001', () => {
  test.each(writes)(
    '$method $action $body with an unknown group id is LM-1001',
    async ({ method, action, body }) => {
      const { id: deleted } = await admin.newGroup({ budget_max: 1 })
      await admin.done('DELETE', `/admin/groups/${deleted}`)
      const { text: before } = await admin.call('GET', '/admin/groups?include_deleted=true')
      for (const id of [unknownId, deleted, deleted.toUpperCase(), 'x', '%00', 'a%2Fb']) {
        const answer = await admin.call(method, `/admin/groups/${id}${action}`, { body })
        expect(refusal(answer), id).toEqual(noSuchGroup)
      }
      const { text: after } = await admin.call('GET', '/admin/groups?include_deleted=true')
      expect(after).toBe(before)
    },
  )

  test.each([unknownId, 'x', '__proto__'])(
    'GET of the unknown group id %s is LM-1001',
    async (id) => {
      expect(refusal(await admin.call('GET', `/admin/groups/${id}`))).toEqual(noSuchGroup)
    },
  )

  test('the id of a key as group id is LM-1001', async () => {
    const { id } = await admin.newKey()
    expect(refusal(await admin.call('GET', `/admin/groups/${id}`))).toEqual(noSuchGroup)
    expect(refusal(await admin.call('PATCH', `/admin/groups/${id}`, { body: {} }))).toEqual(
      noSuchGroup,
    )
  })
})
