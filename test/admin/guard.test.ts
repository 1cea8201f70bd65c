import { beforeEach, describe, expect, test } from 'vitest'
import { mintKey } from '../../src/auth/index.ts'
import { AdminHarness, masterKey } from './harness.ts'

let admin: AdminHarness

beforeEach(() => {
  admin = new AdminHarness()
})

const id = '0'.repeat(32)

/** Every admin route of keys and groups. */
const routes: readonly (readonly [method: string, path: string])[] = [
  ...['keys', 'groups'].flatMap((plural) => [
    ['GET', `/admin/${plural}`] as const,
    ['POST', `/admin/${plural}`] as const,
    ['GET', `/admin/${plural}/${id}`] as const,
    ['PATCH', `/admin/${plural}/${id}`] as const,
    ['DELETE', `/admin/${plural}/${id}`] as const,
    ['POST', `/admin/${plural}/${id}/grant`] as const,
  ]),
  ['POST', `/admin/keys/${id}/rotate`],
]

const strangers: readonly (readonly [string, Record<string, string>])[] = [
  ['nothing', {}],
  ['an empty token', { authorization: 'Bearer ' }],
  ['the master key without a scheme', { authorization: masterKey }],
  ['the master key as x-api-key', { 'x-api-key': masterKey }],
  ['the master key as api-key', { 'api-key': masterKey }],
  ['the master key as a password', { authorization: `Basic ${masterKey}` }],
  ['another master key', { authorization: `Bearer ${'ab'.repeat(32)}` }],
  ['the master key cut short', { authorization: `Bearer ${masterKey.slice(1)}` }],
  ['a virtual key', { authorization: `Bearer ${mintKey().plaintext}` }],
]

describe.each(routes)('%s %s', (method, path) => {
  test.each(strangers)(
    'a request that shows %s is rejected with 401 and has no effect',
    async (_, headers) => {
      const answer = await admin.call(method, path, {
        headers,
        ...(method !== 'GET' && { body: '{"name":' }),
      })
      expect(answer.status).toBe(401)
      expect(answer.headers).toMatchObject({
        'www-authenticate': 'Bearer',
        'x-should-retry': 'false',
      })
      expect(answer.json).toEqual({
        error: {
          code: 'LM-4004',
          type: 'invalid_request',
          message: 'the master key is missing or wrong',
          param: null,
          request_id: 'request',
        },
      })
      expect(admin.store.calls).toEqual([])
    },
  )

  test('a request with the master key is accepted', async () => {
    const answer = await admin.call(method, path, { ...(method !== 'GET' && { body: '{}' }) })
    expect(answer.status).not.toBe(401)
  })
})

test('an active virtual key is not accepted as master key', async () => {
  const { key } = await admin.newKey()
  const answer = await admin.call('GET', '/admin/keys', {
    headers: { authorization: `Bearer ${key}` },
  })
  expect(answer.status).toBe(401)
})

test('the body of a rejected request is not read', async () => {
  let isRead = false
  const body = new ReadableStream<Uint8Array>(
    {
      pull() {
        isRead = true
      },
    },
    { highWaterMark: 0 },
  )
  expect((await admin.call('POST', '/admin/keys', { body, headers: {} })).status).toBe(401)
  expect(isRead).toBe(false)
})

test.each([
  ['DELETE', '/admin/keys', 405],
  ['PUT', `/admin/keys/${id}`, 405],
  ['GET', `/admin/keys/${id}/rotate`, 405],
  ['POST', `/admin/keys/${id}/revoke`, 404],
  ['GET', '/admin', 404],
])('%s %s is LM-1003 without the master key', async (method, path, status) => {
  const answer = await admin.call(method, path, { headers: {} })
  expect([answer.status, answer.json.error.code]).toEqual([status, 'LM-1003'])
})
