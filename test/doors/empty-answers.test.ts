import { describe, expect, test } from 'vitest'
import { testGateway } from '../support/gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'

const gateway = (kind: string, more = '') =>
  testGateway(`
[resilience]
retry_max_attempts = 1
[[providers]]
name = "p"
kind = "${kind}"
api_key_env = "P_KEY"
${more}
models = [{ id = "m" }]
`)

const messages = [{ role: 'user', content: 'Hi' }]
const bodies: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { messages },
  '/v1/completions': { prompt: 'Hi' },
  '/v1/messages': { max_tokens: 9, messages },
  '/v1/responses': { input: 'Hi' },
}
const claude = { type: 'message', role: 'assistant', content: [] }
const choose = (choice: object) => ({ choices: [{ index: 0, ...choice }] })

async function ask(kind: string, path: string, answer: object) {
  const { get, upstream } = await gateway(kind, kind === 'bedrock' ? 'base_url = "us-east-1"' : '')
  upstream.next(json(answer))
  const body = JSON.stringify({ model: 'm', ...bodies[path] })
  const response = await get(path, { method: 'POST', body })
  return { status: response.status, text: await response.text() }
}

describe('an answer with nothing in it', () => {
  test.each<[string, string, object]>([
    ['openai', '/v1/chat/completions', { choices: [] }],
    ['openai', '/v1/chat/completions', choose({ message: null, finish_reason: 'stop' })],
    ['openai', '/v1/messages', choose({ message: { content: 5 }, finish_reason: 'stop' })],
    ['groq', '/v1/responses', choose({ message: { content: '' } })],
    ['openai', '/v1/completions', choose({ text: null, finish_reason: 'stop' })],
    ['openai', '/v1/responses', { output: [] }],
    ['anthropic', '/v1/chat/completions', claude],
    ['anthropic', '/v1/messages', claude],
    ['google', '/v1/chat/completions', { candidates: [{}] }],
    ['bedrock', '/v1/chat/completions', { output: { message: { content: [] } } }],
    ['cohere', '/v1/chat/completions', { message: {} }],
  ])('of %s through %s is LM-3002', async (kind, path, answer) => {
    const { status, text } = await ask(kind, path, answer)
    expect(status).toBe(502)
    expect(text).toContain('LM-3002')
  })

  test('is an answer where it says why it ended', async () => {
    const silent = choose({ message: { content: null }, finish_reason: 'stop' })
    expect(await ask('openai', '/v1/chat/completions', silent)).toMatchObject({ status: 200 })
    const ended = { ...claude, stop_reason: 'max_tokens' }
    expect(await ask('anthropic', '/v1/messages', ended)).toMatchObject({ status: 200 })
  })

  test('is LM-3010 where it is the last event of Claude alone', async () => {
    const { get, upstream } = await gateway('anthropic')
    upstream.next(stream(['event: message_stop\ndata: {"type":"message_stop"}\n\n']))
    const body = JSON.stringify({ model: 'm', messages, stream: true })
    const response = await get('/v1/chat/completions', { method: 'POST', body })
    expect(await response.json()).toMatchObject({ error: { code: 'LM-3010' } })
  })
})

test('events without data do not reach the client', async () => {
  const { get, upstream } = await gateway('openai')
  const chunk = (choice: object) => `data: ${JSON.stringify(choose(choice))}\n\n`
  const first = chunk({ delta: { content: 'Hi' } })
  const last = chunk({ delta: {}, finish_reason: 'stop' })
  const empty = [': c\n\n', 'data:\n\n', 'data: \n\n', 'event: ping\n\n', 'id: 1\n\n']
  upstream.next(stream([': c\n\n', first, ...empty, last, 'data: [DONE]\n\n']))
  const body = JSON.stringify({ model: 'm', messages, stream: true })
  const text = await (await get('/v1/chat/completions', { method: 'POST', body })).text()
  expect(text.startsWith(first + last)).toBe(true)
})

test.each([
  '/v1beta/models/g:generateContent',
  '/v1beta/models/g:streamGenerateContent?alt=sse',
  '/v1/models/g:generateContent',
  '/v1beta/models/g:embedContent',
])('%s names the address to use', async (path) => {
  const { get } = await gateway('openai')
  const response = await get(path, { method: 'POST', body: '{}' })
  expect([404, 405]).toContain(response.status)
  expect(await response.text()).toContain('the Gemini API (:')
})
