import { expect, test } from 'vitest'
import { type KeyedGateway, keyedGateway } from '../../support/keyed-gateway.ts'
import { json, stream } from '../../support/scripted-upstream.ts'
import { asking, chatAnswer, event, message, readMessagesError } from './support.ts'

const priced = `
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
models = [{ id = "m", max_output_tokens = 1000, cost_per_1m_input = 1, cost_per_1m_output = 2 }]
[[providers]]
name = "a"
kind = "anthropic"
api_key_env = "P_KEY"
models = [{ id = "claude", cost_per_1m_input = 1, cost_per_1m_output = 2 }]
`

function post({ get }: KeyedGateway, body: object, headers: Record<string, string>) {
  return get('/v1/messages', { method: 'POST', body: JSON.stringify(body), headers })
}

test('a translated request reserves the bound of its model, a native one its own', async () => {
  const gateway = await keyedGateway(priced)
  gateway.upstream.always(json(message()))
  // 1,000 tokens of output cost 0.002 USD, 64,000 cost 0.128.
  const { headers } = await gateway.key({ budget_max: 0.01 })
  gateway.upstream.next(chatAnswer())
  expect((await post(gateway, asking({ max_tokens: 64_000 }), headers)).status).toBe(200)
  const native = asking({ model: 'claude', max_tokens: 64_000 })
  const refused = await post(gateway, native, headers)
  expect(refused.status).toBe(402)
  expect(await readMessagesError(refused)).toMatchObject({
    type: 'billing_error',
    code: 'LM-4001',
    budget_max: 0.01,
  })
  expect(gateway.upstream.requests).toHaveLength(1)
})

test('a request is charged and has a row with its API', async () => {
  const gateway = await keyedGateway(priced)
  gateway.upstream.next(chatAnswer())
  const { headers } = await gateway.key({ budget_max: 1 })
  await post(gateway, asking(), headers)
  expect(await gateway.rows()).toMatchObject([
    { api: 'messages', capability: 'chat', tokensIn: 9, tokensOut: 2, cost: 13_000n },
  ])
})

test('counts of 0 at the end of a native stream do not undo those of its start', async () => {
  const gateway = await keyedGateway(priced)
  const { headers } = await gateway.key({ budget_max: 1 })
  for (const cache of [{}, { cache_read_input_tokens: 1000 }]) {
    const start = { ...message([]), usage: { input_tokens: 1500, output_tokens: 1, ...cache } }
    const usage = { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 44 }
    gateway.upstream.next(
      stream([
        event('message_start', { message: start }),
        event('content_block_delta', { index: 0, delta: { type: 'text_delta', text: 'Hello' } }),
        event('message_delta', { delta: { stop_reason: 'end_turn' }, usage }),
        event('message_stop'),
      ]),
    )
    await (await post(gateway, asking({ model: 'claude', stream: true }), headers)).text()
  }
  expect(await gateway.rows()).toMatchObject([
    { tokensIn: 1500, tokensOut: 44, estimated: false },
    { tokensIn: 2500, tokensOut: 44, estimated: false },
  ])
})

test('a request without a key is refused in the form of the API, and not to be repeated', async () => {
  const gateway = await keyedGateway(priced)
  const refused = await post(gateway, asking(), {})
  expect(refused.status).toBe(401)
  expect(refused.headers.get('x-should-retry')).toBe('false')
  expect(await readMessagesError(refused)).toMatchObject({ type: 'authentication_error' })
})

test('either of two keys admits', async () => {
  const gateway = await keyedGateway(priced)
  gateway.upstream.always(chatAnswer())
  const { secret } = await gateway.key()
  for (const headers of [
    { 'x-api-key': secret, authorization: 'Bearer wrong' },
    { 'x-api-key': 'wrong', authorization: `Bearer ${secret}` },
  ]) {
    expect((await post(gateway, asking(), headers)).status).toBe(200)
  }
})

test('a path below the API that does not exist is refused in the form of the API', async () => {
  const gateway = await keyedGateway(priced)
  const refused = await gateway.get('/v1/messages/batches', { method: 'POST' })
  expect(refused.status).toBe(404)
  expect(await readMessagesError(refused)).toMatchObject({
    type: 'not_found_error',
    code: 'LM-1003',
    message: expect.stringContaining('count_tokens'),
  })
})

test.each([
  [405, 'api_error', { method: 'GET' }],
  [413, 'request_too_large', { method: 'POST', body: 'x'.repeat(2000) }],
  [400, 'invalid_request_error', { method: 'POST', body: '{' }],
])('status %i has the type %s', async (status, type, init) => {
  const gateway = await keyedGateway(`[server]\nbody_limit = 1000\n${priced}`)
  const { headers } = await gateway.key()
  const refused = await gateway.get('/v1/messages', { headers, ...init })
  expect(refused.status).toBe(status)
  expect(await readMessagesError(refused)).toMatchObject({ type })
})
