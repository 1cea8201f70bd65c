import { describe, expect, test } from 'vitest'
import { json } from '../../support/scripted-upstream.ts'
import { asking, chatAnswer, message, messagesGateway, post, readMessagesError } from './support.ts'

const ownMessages = `
[[providers]]
name = "d"
kind = "deepseek"
api_key_env = "P_KEY"
messages_url = "https://api.deepseek.test/anthropic/v1/messages"
models = [{ id = "deep", upstream_id = "deepseek-chat" }]
`

describe('a provider with messages_url', () => {
  test('gets the bytes of the client at that address, with its credential as x-api-key', async () => {
    const gateway = await messagesGateway(ownMessages)
    gateway.upstream.next(json(message()))
    const body =
      '{"model":"deep","max_tokens":5,"messages":[{"role":"user","content":"Hi"}],"new":1.0}'
    const response = await post(gateway, body)
    expect(await response.json()).toEqual(message())
    const [sent] = gateway.upstream.requests
    expect(sent?.url).toBe('https://api.deepseek.test/anthropic/v1/messages')
    expect(gateway.upstream.text()).toBe(body.replace('"deep"', '"deepseek-chat"'))
    expect(sent?.headers['x-api-key']).toMatch(/^sk-test/)
    expect(sent?.headers).not.toHaveProperty('authorization')
  })

  test('counts tokens below that address', async () => {
    const gateway = await messagesGateway(ownMessages)
    gateway.upstream.next(json({ input_tokens: 7 }))
    const { max_tokens: _, ...body } = asking({ model: 'deep' }) as { max_tokens: number }
    const response = await post(gateway, body, { path: '/v1/messages/count_tokens' })
    expect(await response.json()).toEqual({ input_tokens: 7 })
    expect(gateway.upstream.requests[0]?.url).toBe(
      'https://api.deepseek.test/anthropic/v1/messages/count_tokens',
    )
  })

  test('serves chat completions at its other address', async () => {
    const gateway = await messagesGateway(ownMessages)
    gateway.upstream.next(chatAnswer())
    await gateway.chat({ model: 'deep', messages: [{ role: 'user', content: 'Hi' }] })
    expect(gateway.upstream.requests[0]?.url).toBe('https://api.deepseek.com/chat/completions')
    expect(gateway.upstream.requests[0]?.headers).toHaveProperty('authorization')
  })
})

describe('what belongs to the API besides the body', () => {
  test('the version, the betas and beta=true reach a native link, and nothing else does', async () => {
    const gateway = await messagesGateway()
    gateway.upstream.next(json(message()))
    await post(gateway, asking({ model: 'claude' }), {
      path: '/v1/messages?beta=true&trace=1',
      headers: {
        'anthropic-version': '2026-10-21',
        'anthropic-beta': 'a-1,b-2',
        'x-api-key': 'sk-of-the-client',
        'x-stainless-os': 'Linux',
      },
    })
    const [sent] = gateway.upstream.requests
    expect(sent?.url).toBe('https://api.anthropic.com/v1/messages?beta=true')
    expect(sent?.headers).toMatchObject({
      'anthropic-version': '2026-10-21',
      'anthropic-beta': 'a-1,b-2',
    })
    expect(JSON.stringify(sent?.headers)).not.toMatch(/of-the-client|stainless/)
  })

  test('a request without a version gets the first one', async () => {
    const gateway = await messagesGateway()
    gateway.upstream.next(json(message()))
    await post(gateway, asking({ model: 'claude' }))
    expect(gateway.upstream.requests[0]?.headers['anthropic-version']).toBe('2023-06-01')
  })
})

describe('a chain of both forms', () => {
  const chain = `
[[providers]]
name = "a"
kind = "anthropic"
api_key_env = "P_KEY"
models = [{ id = "claude", fallbacks = ["m"] }]
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
models = [{ id = "m", max_output_tokens = 100 }]
`

  test('a native link that refuses its credential is followed by a translated one', async () => {
    const gateway = await messagesGateway(chain)
    gateway.upstream.next(json({ type: 'error', error: {} }, { status: 401 }), chatAnswer())
    const response = await post(gateway, asking({ model: 'claude', max_tokens: 64_000 }))
    expect(response.headers.get('x-gateway-model-used')).toBe('m')
    expect(await response.json()).toMatchObject({
      type: 'message',
      model: 'm',
      content: [{ type: 'text', text: 'Hello' }],
    })
    expect(gateway.upstream.body()).toMatchObject({ max_completion_tokens: 100 })
  })

  test('a native link alone can warm its cache up with max_tokens 0', async () => {
    const gateway = await messagesGateway()
    gateway.upstream.next(json(message([])))
    expect((await post(gateway, asking({ model: 'claude', max_tokens: 0 }))).status).toBe(200)
    const refused = await post(gateway, asking({ max_tokens: 0 }))
    expect(refused.status).toBe(400)
    expect(await readMessagesError(refused)).toMatchObject({ code: 'LM-1001', param: 'max_tokens' })
    expect(gateway.upstream.requests).toHaveLength(1)
  })
})

/* Models of other vendors write thinking without a signature, which Claude refuses. */
describe('thinking without a signature', () => {
  const user = { role: 'user', content: 'Hi' }
  const text = { type: 'text', text: 'Hello' }
  const signed = { type: 'thinking', thinking: 'Mine.', signature: 'c2ln' }
  const unsigned = [
    { type: 'thinking', thinking: 'Hmm.', signature: '' },
    { type: 'thinking', thinking: 'Hmm.' },
    { type: 'thinking', thinking: '', signature: null },
  ]

  test.each(unsigned)('does not reach Claude: %j', async (block) => {
    const gateway = await messagesGateway()
    gateway.upstream.next(json(message()), json({ input_tokens: 7 }))
    const history = [
      user,
      { role: 'assistant', content: [signed, block, text] },
      user,
      { role: 'assistant', content: [block] },
      user,
    ]
    const cut = [user, { role: 'assistant', content: [signed, text] }, user, user]
    await post(gateway, { model: 'claude', max_tokens: 5, messages: history })
    expect(gateway.upstream.body()).toMatchObject({ messages: cut })
    const path = '/v1/messages/count_tokens'
    await post(gateway, { model: 'claude', messages: history }, { path })
    expect(gateway.upstream.body()).toMatchObject({ messages: cut })
  })

  test.each(unsigned)('reaches models that are not Claude as it is: %j', async (block) => {
    const gateway = await messagesGateway(ownMessages)
    gateway.upstream.next(json(message()))
    const messages = [user, { role: 'assistant', content: [block, text] }, user]
    await post(gateway, { model: 'deep', max_tokens: 5, messages })
    expect(gateway.upstream.body()).toMatchObject({ messages })
  })
})
