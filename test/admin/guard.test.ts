import { beforeEach, describe, expect, test } from 'vitest'
import { mintKey } from '../../src/auth/index.ts'
import { AdminHarness, masterKey } from './harness.ts'

let desk: AdminHarness

beforeEach(() => {
  desk = new AdminHarness()
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
  ['the master key as a password', { authorization: `Basic ${masterKey}` }],
  ['another master key', { authorization: `Bearer ${'ab'.repeat(32)}` }],
  ['the master key cut short', { authorization: `Bearer ${masterKey.slice(1)}` }],
  ['a virtual key', { authorization: `Bearer ${mintKey().plaintext}` }],
]

describe.each(routes)('%s %s', (method, path) => {
  test.each(strangers)('is 401 for who shows %s, and nothing is done', async (_, headers) => {
    const answer = await desk.call(method, path, {
      headers,
      ...(method !== 'GET' && { body: '{"name":' }),
    })
    expect(answer.status).toBe(401)
    expect(answer.headers).toMatchObject({ 'www-authenticate': 'Bearer' })
    expect(answer.json).toEqual({
      error: {
        code: 'LM-4004',
        type: 'invalid_request',
        message: 'the master key is missing or wrong',
        param: null,
        request_id: 'request',
      },
    })
    expect(desk.store.calls).toEqual([])
  })

  test('lets in who shows the master key', async () => {
    const answer = await desk.call(method, path, { ...(method !== 'GET' && { body: '{}' }) })
    expect(answer.status).not.toBe(401)
  })
})

test('a virtual key in force is no master key', async () => {
  const { key } = await desk.newKey()
  const answer = await desk.call('GET', '/admin/keys', {
    headers: { authorization: `Bearer ${key}` },
  })
  expect(answer.status).toBe(401)
})

test('the body of a stranger is not read', async () => {
  let isRead = false
  const body = new ReadableStream<Uint8Array>(
    {
      pull() {
        isRead = true
      },
    },
    { highWaterMark: 0 },
  )
  expect((await desk.call('POST', '/admin/keys', { body, headers: {} })).status).toBe(401)
  expect(isRead).toBe(false)
})

test.each([
  ['DELETE', '/admin/keys', 405],
  ['PUT', `/admin/keys/${id}`, 405],
  ['GET', `/admin/keys/${id}/rotate`, 405],
  ['POST', `/admin/keys/${id}/revoke`, 404],
  ['GET', '/admin', 404],
])('%s %s is LM-1003 outside of the guard', async (method, path, status) => {
  const answer = await desk.call(method, path, { headers: {} })
  expect([answer.status, answer.json.error.code]).toEqual([status, 'LM-1003'])
})
