import { expect, test } from 'vitest'
import { keyedGateway } from '../../support/keyed-gateway.ts'
import { broken, json, silent, whole } from '../../support/scripted-upstream.ts'
import { messagesGateway, post, readMessagesError, twoLinks } from './support.ts'

const path = '/v1/messages/count_tokens'
const messages = [{ role: 'user', content: 'Hello' }]

test('a native link counts, with the bytes of the client and of the answer', async () => {
  const gateway = await messagesGateway()
  gateway.upstream.next(whole('{ "input_tokens": 14 }'))
  const response = await post(
    gateway,
    { model: 'claude', messages, tools: [] },
    { path: `${path}?beta=true`, headers: { 'anthropic-beta': 'token-counting-2024-11-01' } },
  )
  expect(await response.text()).toBe('{ "input_tokens": 14 }')
  expect(response.headers.get('x-gateway-attempts')).toBe('1')
  const [request] = gateway.upstream.requests
  expect(request?.url).toBe('https://api.anthropic.com/v1/messages/count_tokens?beta=true')
  expect(request?.headers).toMatchObject({
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'token-counting-2024-11-01',
  })
  expect(gateway.upstream.body()).toEqual({ model: 'claude-sonnet-4-5', messages, tools: [] })
})

test.each([
  [
    'an error',
    json({ type: 'error', error: { type: 'api_error', message: 'x' } }, { status: 500 }),
  ],
  ['a refused key', json({}, { status: 401 })],
  ['no connection', broken()],
  ['an answer that is not a count', json({ tokens: 3 })],
])('after %s of a native link the gateway estimates', async (_, responder) => {
  const gateway = await messagesGateway()
  gateway.upstream.next(responder)
  const response = await post(gateway, { model: 'claude', messages }, { path })
  expect(response.status).toBe(200)
  expect(await response.json()).toEqual({ input_tokens: 9, estimated: true })
  expect(response.headers.get('x-gateway-attempts')).toBe('1')
  expect(gateway.upstream.requests).toHaveLength(1)
})

test('`x-gateway-timeout-ms` shortens the wait, and must be a number', async () => {
  const gateway = await messagesGateway()
  gateway.upstream.next(silent())
  const headers = { 'x-gateway-timeout-ms': '300' }
  const sent = post(gateway, { model: 'claude', messages }, { path, headers })
  await gateway.clock.advance(300)
  expect(await (await sent).json()).toEqual({ input_tokens: 9, estimated: true })
  const wrong = { 'x-gateway-timeout-ms': 'soon' }
  const refused = await post(gateway, { model: 'claude', messages }, { path, headers: wrong })
  expect(await readMessagesError(refused)).toMatchObject({ code: 'LM-1001' })
})

test('a link of another API is not called: the gateway estimates', async () => {
  const gateway = await messagesGateway()
  const request = { model: 'm', messages, system: 'Be brief.', tools: [] }
  const response = await post(gateway, request, { path })
  expect(await response.json()).toEqual({ input_tokens: 15, estimated: true })
  expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'))
  expect(gateway.upstream.requests).toEqual([])
})

test('a tool that the conversation defines counts as one of the request', async () => {
  const gateway = await messagesGateway()
  const definition = { name: 'a', description: 'x'.repeat(400), input_schema: { type: 'object' } }
  const tool = { type: 'tool_definition', definition }
  const count = async (fields: object) => {
    const response = await post(gateway, { model: 'm', messages, ...fields }, { path })
    return Number(((await response.json()) as { input_tokens: number }).input_tokens)
  }
  const none = await count({})
  const above = await count({ tools: [definition] })
  const added = { role: 'system', content: [{ type: 'tool_addition', tool }] }
  const inside = await count({ messages: [...messages, added] })
  expect(inside).toBeGreaterThanOrEqual(above)
  expect(inside).toBeLessThan(above + 10)
  expect(above).toBeGreaterThan(none + 80)
})

test('an upstream that does not answer is not waited for', async () => {
  const gateway = await messagesGateway()
  gateway.upstream.next(() => new Promise(() => {}))
  const response = post(gateway, { model: 'claude', messages }, { path })
  await gateway.clock.advance(10_000)
  expect(await (await response).json()).toMatchObject({ estimated: true })
})

test('errors have the form of the API', async () => {
  const gateway = await messagesGateway()
  const unknown = await post(gateway, { model: 'other', messages }, { path })
  expect(unknown.status).toBe(404)
  expect(await readMessagesError(unknown)).toMatchObject({
    type: 'not_found_error',
    code: 'LM-2001',
  })
  const empty = await post(gateway, { model: 'm', messages: [] }, { path })
  expect(await readMessagesError(empty)).toMatchObject({
    type: 'invalid_request_error',
    param: 'messages',
  })
})

test('a count needs a key, and is neither limited by it nor charged to it', async () => {
  const gateway = await keyedGateway(twoLinks)
  const key = await gateway.key({ rpm_limit: 1, budget_max: 0 })
  for (let count = 0; count < 3; count++) {
    const { status, body } = await gateway.ask(key, { model: 'm', messages }, path)
    expect({ status, body }).toEqual({ status: 200, body: { input_tokens: 9, estimated: true } })
  }
  const refused = await post(gateway, { model: 'm', messages }, { path })
  expect(refused.status).toBe(401)
  expect(refused.headers.get('x-should-retry')).toBe('false')
  expect(await readMessagesError(refused)).toMatchObject({ type: 'authentication_error' })
  expect(await gateway.rows()).toEqual([])
  expect(gateway.log.filter((line) => line.message === 'request')).toEqual([])
})

test('at most 64 counts run at once for a key', async () => {
  const gateway = await keyedGateway(twoLinks)
  const [one, other] = [await gateway.key(), await gateway.key()]
  gateway.upstream.always(() => new Promise(() => {}))
  const ask = (key: typeof one) => gateway.ask(key, { model: 'claude', messages }, path)
  const running = Array.from({ length: 64 }, () => ask(one))
  const refused = await ask(one)
  expect(refused.status).toBe(429)
  expect(refused.headers.get('retry-after')).toBe('1')
  expect(refused.body['error']).toMatchObject({ type: 'rate_limit_error', code: 'LM-4006' })
  const allowed = ask(other)
  await gateway.clock.advance(10_000)
  const statuses = (await Promise.all([...running, allowed])).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([200]))
  const again = ask(one)
  await gateway.clock.advance(10_000)
  expect((await again).status).toBe(200)
})

test('a refused count has a log line, because it has no request line', async () => {
  const gateway = await keyedGateway()
  const key = await gateway.key()
  gateway.log.length = 0
  await gateway.ask(key, { model: 'canary', messages }, path)
  expect(gateway.log).toEqual([
    {
      level: 'info',
      message: 'count refused',
      fields: {
        request_id: expect.any(String),
        key_id: key.id,
        path,
        status: 404,
        error_code: 'LM-2001',
        reason: expect.stringContaining('model'),
      },
    },
  ])
})
