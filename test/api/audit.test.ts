import { describe, expect, test } from 'vitest'
import {
  type KeyedGateway,
  keyedGateway,
  masterKey,
  pricedProvider,
} from '../support/keyed-gateway.ts'
import { json } from '../support/scripted-upstream.ts'

const client = '192.0.2.7'
const secret = 'canary-0123456789'

/** Sends a request to the admin API under the request id `r1`; resolves to the response body. */
async function change(
  { gateway, log }: KeyedGateway,
  method: string,
  path: string,
  body?: unknown,
): Promise<Record<string, unknown>> {
  log.length = 0
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const request = new Request(`http://gateway.test${path}`, {
    method,
    headers: { authorization: `Bearer ${masterKey}`, 'x-request-id': 'r1' },
    ...(body !== undefined && { body: text }),
  })
  const response = await gateway.fetch(request, { client })
  expect(response.status).toBeLessThan(300)
  const answer = await response.text()
  return answer === '' ? {} : JSON.parse(answer)
}

/** The audit lines since the last change. */
function audited({ log }: KeyedGateway) {
  return log.filter(({ message }) => message === 'audit')
}

function line(action: string, subjectId: unknown) {
  const [scope] = action.split('.')
  return {
    level: 'info',
    message: 'audit',
    fields: { action, scope, subject_id: subjectId, request_id: 'r1', client },
  }
}

describe('audit lines of the admin API', () => {
  test('every change of a key leaves one audit line', async () => {
    const gateway = await keyedGateway()
    const { id } = await change(gateway, 'POST', '/admin/keys', { name: 'a', budget_max: 1 })
    expect(audited(gateway)).toEqual([line('key.create', id)])
    const path = `/admin/keys/${id}`
    for (const [method, at, body, action] of [
      ['PATCH', path, { disabled: true }, 'key.update'],
      ['POST', `${path}/rotate`, undefined, 'key.rotate'],
      ['POST', `${path}/grant`, { amount: 1 }, 'key.grant'],
      ['DELETE', path, undefined, 'key.delete'],
    ] as const) {
      await change(gateway, method, at, body)
      expect(audited(gateway)).toEqual([line(action, id)])
    }
  })

  test('every change of a group leaves one audit line', async () => {
    const gateway = await keyedGateway()
    const { id } = await change(gateway, 'POST', '/admin/groups', { name: 'a', budget_max: 1 })
    expect(audited(gateway)).toEqual([line('group.create', id)])
    const path = `/admin/groups/${id}`
    for (const [method, at, body, action] of [
      ['PATCH', path, { name: 'b' }, 'group.update'],
      ['POST', `${path}/grant`, { amount: 1 }, 'group.grant'],
      ['DELETE', path, undefined, 'group.delete'],
    ] as const) {
      await change(gateway, method, at, body)
      expect(audited(gateway)).toEqual([line(action, id)])
    }
  })

  test('changes of a provider key, the webhooks and their signing key leave audit lines without the secret', async () => {
    const gateway = await keyedGateway()
    gateway.upstream.always(json({}))
    for (const [method, path, body, action, subject] of [
      ['PUT', '/admin/provider-keys/p', { key: secret }, 'provider_key.store', 'p'],
      ['DELETE', '/admin/provider-keys/p', undefined, 'provider_key.delete', 'p'],
      ['PUT', '/admin/webhooks', { url: 'https://h.test' }, 'webhooks.replace', null],
      ['PUT', '/admin/webhooks/signing-key', { secret }, 'signing_key.store', null],
      ['DELETE', '/admin/webhooks/signing-key', undefined, 'signing_key.delete', null],
      ['DELETE', '/admin/webhooks', undefined, 'webhooks.disable', null],
    ] as const) {
      await change(gateway, method, path, body)
      expect(audited(gateway)).toEqual([line(action, subject)])
      expect(JSON.stringify(gateway.log)).not.toContain(secret)
    }
  })
})

test('a request that changes nothing leaves no audit line', async () => {
  const gateway = await keyedGateway(pricedProvider)
  const { id } = await gateway.key()
  gateway.log.length = 0
  await gateway.admin('GET', '/admin/keys')
  await gateway.admin('GET', `/admin/keys/${id}`)
  await gateway.admin('PATCH', `/admin/keys/${id}`, { budget_max: -1 })
  await gateway.admin('DELETE', `/admin/keys/${'0'.repeat(32)}`)
  await gateway.admin('POST', `/admin/keys/${id}/grant`, { amount: 1 })
  await gateway.get('/admin/keys', { method: 'POST', body: '{"name":"a"}' })
  expect(audited(gateway)).toEqual([])
})

describe('GET /admin/audit', () => {
  const rowsOf = async ({ admin }: KeyedGateway, query = '') =>
    (await admin('GET', `/admin/audit${query}`)).body['rows']

  test('rows have the fields of the lines, with the time of the change', async () => {
    const gateway = await keyedGateway()
    const ts = Math.floor(gateway.clock.now() / 1000)
    const { id } = await change(gateway, 'POST', '/admin/keys', { name: 'a' })
    await change(gateway, 'PUT', '/admin/provider-keys/p', { key: secret })
    const origin = { ts, request_id: 'r1', client }
    const { body } = await gateway.admin('GET', '/admin/audit')
    expect(body).toEqual({
      since: ts - 86_400,
      until: ts,
      rows: [
        { id: 1, action: 'key.create', scope: 'key', subject_id: id, ...origin },
        { id: 2, action: 'provider_key.store', scope: 'provider_key', subject_id: 'p', ...origin },
      ],
      next_cursor: null,
    })
  })

  test('rows can be selected by time, action and subject, and are paged by id', async () => {
    const gateway = await keyedGateway()
    const { id } = await gateway.key({ budget_max: 1 })
    await gateway.clock.advance(10_000)
    await gateway.admin('POST', `/admin/keys/${id}/grant`, { amount: 1 })
    const other = await gateway.key()
    const now = Math.floor(gateway.clock.now() / 1000)
    for (const [query, ids] of [
      ['', [1, 2, 3]],
      [`?since=${now}`, [2, 3]],
      [`?until=${now - 1}`, [1]],
      ['?action=key.create', [1, 3]],
      [`?subject_id=${other.id}`, [3]],
      ['?limit=2', [1, 2]],
      ['?limit=2&cursor=2', [3]],
    ] as const) {
      expect([query, await rowsOf(gateway, query)]).toMatchObject([
        query,
        ids.map((row) => ({ id: row })),
      ])
    }
    const page = await gateway.admin('GET', '/admin/audit?limit=2')
    expect(page.body['next_cursor']).toBe(2)
  })

  test('an unknown action, parameter or time is refused with LM-1001', async () => {
    const { admin } = await keyedGateway()
    for (const [query, param] of [
      ['action=key.revoke', 'action'],
      ['limit=1001', 'limit'],
      ['since=yesterday', 'since'],
      ['scope=key', 'scope'],
    ] as const) {
      const { status, body } = await admin('GET', `/admin/audit?${query}`)
      expect([status, body]).toMatchObject([400, { error: { code: 'LM-1001', param } }])
    }
  })

  test('a change whose write fails leaves neither a row nor a line', async () => {
    const gateway = await keyedGateway()
    const { id } = await gateway.key()
    gateway.log.length = 0
    gateway.store.trouble = 'refuse'
    expect((await gateway.admin('DELETE', `/admin/keys/${id}`)).status).toBe(503)
    gateway.store.trouble = 'none'
    expect(audited(gateway)).toEqual([])
    expect(await rowsOf(gateway)).toHaveLength(1)
  })

  test('a change outside the database succeeds although its row cannot be written', async () => {
    const gateway = await keyedGateway(`${pricedProvider}\n[cache]\nenabled = true`)
    gateway.store.trouble = 'refuse'
    expect((await gateway.admin('DELETE', '/admin/cache')).status).toBe(200)
    const messages = gateway.log.map(({ message }) => message)
    expect(messages).toContain('cannot write the audit row of a change')
  })

  test('deleting a secret that is not stored leaves no row', async () => {
    const gateway = await keyedGateway()
    await gateway.admin('DELETE', '/admin/provider-keys/p')
    await gateway.admin('DELETE', '/admin/webhooks/signing-key')
    expect(await rowsOf(gateway)).toEqual([])
    expect(audited(gateway)).toEqual([])
  })
})
