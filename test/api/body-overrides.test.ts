import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { completion, wholeStream } from '../support/answers.ts'
import { testGateway } from '../support/gateway.ts'
import { keyedGateway } from '../support/keyed-gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const configOf = (body: string, provider = 'kind = "openai"', model = '') => `
  [resilience]
  retry_max_attempts = 1
  [[providers]]
  name = "p"
  ${provider}
  base_url = "https://p.test"
  [[providers.models]]
  id = "m"
  ${model}
  [providers.models.body]
  ${body}
`
const answer = json(completion())
const messages = [{ role: 'user', content: 'Hi' }]

async function send(config: string, text: string, path = '/v1/chat/completions') {
  const { get, upstream } = await watchedGateway(config)
  upstream.always(answer)
  await (await get(path, { method: 'POST', body: text })).text()
  return upstream.text()
}

describe('a body that is passed on', () => {
  const body = 'set = { a = 1 }\ndefault = { b = "x", c = [1, { d = true }] }\ndrop = ["user", "e"]'
  const config = configOf(body)

  test('gets and loses members, and keeps all other bytes', async () => {
    const text = `{ "user":"u", "model" : "m",  "big":12345678901234567890, "messages": [{"role":"user","content":"H\\u0069"}], "e":{"x":[1]}, "b":null }`
    expect(await send(config, text)).toBe(
      `{ "model" : "m",  "big":12345678901234567890, "messages": [{"role":"user","content":"H\\u0069"}], "b":null ,"a":1,"c":[1,{"d":true}]}`,
    )
  })

  test('a member that is set is replaced, also one that is repeated', async () => {
    const text = `{"a": {"old":1}, "model":"m","messages":[{"role":"user","content":"x"}],"c":0,"b":0,"a":2}`
    expect(await send(config, text)).toBe(
      `{"a": 1, "model":"m","messages":[{"role":"user","content":"x"}],"c":0,"b":0,"a":1}`,
    )
  })

  test('without such settings nothing changes', async () => {
    const text = `{"model":"m","user":"u","messages":[{"role":"user","content":"x"}]}`
    expect(await send(configOf(''), text)).toBe(text)
  })

  test('a stream', async () => {
    const { chat, upstream } = await watchedGateway(config)
    upstream.always(stream([wholeStream]))
    await (await chat({ model: 'm', messages, stream: true, user: 'u' })).text()
    expect(upstream.body()).toMatchObject({ stream: true, a: 1, b: 'x' })
    expect(upstream.body()).not.toHaveProperty('user')
  })

  test('the members are those of a plain model', async () => {
    const { chat, upstream } = await testGateway(config)
    upstream.always(answer)
    const names = fc.constantFrom('a', 'b', 'c', 'd', 'e', 'user', 'x"y', 'constructor')
    const members = fc.array(fc.tuple(names, fc.jsonValue({ maxDepth: 2 })), { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(members, fc.boolean(), async (given, isSpaced) => {
        const more = Object.fromEntries(given)
        const text = JSON.stringify({ ...more, model: 'm', messages }, null, isSpaced ? 1 : 0)
        await (await chat(text)).text()
        const { user: _, e: __, ...kept } = JSON.parse(text)
        const expected = { b: 'x', c: [1, { d: true }], ...kept, a: 1 }
        expect(upstream.body()).toEqual(expected)
      }),
      { numRuns: 200 },
    )
  })
})

describe('a name with a dot', () => {
  test('is that of a member of the body itself', async () => {
    const config = configOf('set = { "x.y" = 1 }\ndrop = ["a.b", "user"]')
    const text = `{"a":{"b":1},"a.b":2,"user":"u","model":"m","messages":[{"role":"user","content":"x"}]}`
    expect(await send(config, text)).toBe(
      `{"a":{"b":1},"model":"m","messages":[{"role":"user","content":"x"}],"x.y":1}`,
    )
  })
})

describe('a count of tokens', () => {
  test('is changed as far as the upstream takes the members', async () => {
    const body =
      'set = { thinking = { type = "disabled" }, metadata = { user_id = "x" } }\ndrop = ["context_management"]'
    const config = configOf(body, 'kind = "anthropic"')
    const { get, upstream } = await watchedGateway(config)
    upstream.always(json({ input_tokens: 3 }))
    const sent = `{"model":"m","context_management":{},"messages":[{"role":"user","content":"x"}]}`
    await (await get('/v1/messages/count_tokens', { method: 'POST', body: sent })).text()
    expect(upstream.text()).toBe(
      `{"model":"m","messages":[{"role":"user","content":"x"}],"thinking":{"type":"disabled"}}`,
    )
  })
})

describe('every door', () => {
  const body = 'set = { extra = 1 }\ndrop = ["user"]'

  test.each([
    ['/v1/completions', { prompt: 'x' }, 'kind = "openai"'],
    ['/v1/responses', { input: 'x' }, 'kind = "openai"\nresponses = true'],
    ['/v1/responses', { input: 'x' }, 'kind = "openai"\nresponses = false'],
    ['/v1/messages', { messages, max_tokens: 9 }, 'kind = "openai"'],
    ['/v1/messages', { messages, max_tokens: 9 }, 'kind = "anthropic"'],
    ['/v1/chat/completions', { messages }, 'kind = "anthropic"'],
    ['/v1/chat/completions', { messages }, 'kind = "google"'],
    ['/v1/chat/completions', { messages }, 'kind = "cohere"'],
  ])('%s (case %#)', async (path, more, provider) => {
    const text = JSON.stringify({ model: 'm', user: 'u', ...more })
    const sent = JSON.parse(await send(configOf(body, provider), text, path))
    expect(sent).toMatchObject({ extra: 1 })
    expect(sent).not.toHaveProperty('user')
  })

  test.each([
    ['/v1/embeddings', { input: ['x'] }],
    ['/v1/rerank', { query: 'q', documents: ['x'] }],
  ])('%s', async (path, more) => {
    const config = configOf(body, 'kind = "jina"', 'capabilities = ["embed", "rerank"]')
    const text = JSON.stringify({ model: 'm', ...more })
    expect(JSON.parse(await send(config, text, path))).toMatchObject({ extra: 1 })
  })

  test('explain shows the changed body', async () => {
    const { admin } = await keyedGateway(configOf(body))
    const question = { path: '/v1/chat/completions', body: { model: 'm', messages, user: 'u' } }
    expect((await admin('POST', '/admin/explain', question)).body).toMatchObject({
      links: [{ upstream: { body: { model: 'm', messages, extra: 1 } } }],
    })
  })
})

describe('the settings', () => {
  test.each([
    ['set = { model = "x" }', 'routes or prices by'],
    ['default = { max_tokens = 1 }', 'routes or prices by'],
    ['drop = ["messages"]', 'routes or prices by'],
    ['drop = [""]', 'must not be empty'],
    ['set = { a = 1 }\ndrop = ["a"]', 'names "a" in two of set, default and drop'],
    ['set = { a = 1 }\ndefault = { a = 1 }', 'names "a" in two of set, default and drop'],
    ['set = { a = 2026-01-01 }', 'without dates'],
    ['set = { a = [nan] }', 'a value of JSON'],
  ])('%j is refused', async (body, words) => {
    await expect(testGateway(configOf(body))).rejects.toThrow(words)
  })
})
