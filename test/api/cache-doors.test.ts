import { expect, test } from 'vitest'
import { completion } from '../support/answers.ts'
import { cacheHeaders, cacheOn } from '../support/cached.ts'
import { oneProvider } from '../support/gateway.ts'
import { json, type Responder } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const claude = `${cacheOn()}
[[providers]]
name = "p"
kind = "anthropic"
api_key_env = "P_KEY"
[[providers.models]]
id = "m"
cache = true
`

const message: Responder = json({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  stop_sequence: null,
  usage: { input_tokens: 9, output_tokens: 2 },
})

const asked = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] }

test('a native Messages request is equal only with the same headers and query of its API', async () => {
  const { get, upstream } = await watchedGateway(claude)
  upstream.always(message)
  const ask = (headers: Record<string, string>, query = '') =>
    get(`/v1/messages${query}`, { method: 'POST', headers, body: JSON.stringify(asked) })
  const results = [
    await ask({}),
    await ask({ 'x-stainless-lang': 'js' }),
    await ask({ 'anthropic-beta': 'a' }),
    await ask({ 'anthropic-beta': 'a' }),
    await ask({ 'anthropic-beta': 'a' }, '?beta=true'),
  ].map((response) => cacheHeaders(response)[0])
  expect(results).toEqual(['miss', 'hit', 'miss', 'hit', 'miss'])
})

/** A provider that does not speak Responses itself. */
const config = `${cacheOn()}${oneProvider}cache = true\n`.replace(
  'kind = "openai"',
  'kind = "openai"\nbase_url = "http://p.test/v1"',
)

test('the doors do not share answers, and each gives its own again', async () => {
  const { get, chat, upstream } = await watchedGateway(config)
  upstream.always(json(completion()))
  const send = (path: string, body: object) =>
    get(path, { method: 'POST', body: JSON.stringify(body) })
  await chat(asked)
  for (const [path, body] of [
    ['/v1/messages', asked],
    ['/v1/responses', { model: 'm', input: 'Hi', store: false }],
  ] as const) {
    const first = await send(path, body)
    expect([path, ...cacheHeaders(first)]).toEqual([path, 'miss'])
    const second = await send(path, body)
    expect([path, ...cacheHeaders(second)]).toEqual([path, 'hit', '0'])
    expect(await second.text()).toBe(await first.text())
  }
})
