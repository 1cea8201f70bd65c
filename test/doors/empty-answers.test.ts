import { describe, expect, test } from 'vitest'
import { usage } from '../support/answers.ts'
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
const event = (payload: object) => `data: ${JSON.stringify(payload)}\n\n`
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

/** For each door, an upstream that speaks its API, and what it sends before and behind events without data. */
const verbatim: readonly (readonly [string, string, readonly string[]])[] = [
  [
    'openai',
    '/v1/chat/completions',
    [
      event(choose({ delta: { content: 'Hi' } })),
      event({ ...choose({ delta: {}, finish_reason: 'stop' }), usage }),
      'data: [DONE]\n\n',
    ],
  ],
  [
    'openai',
    '/v1/completions',
    [
      event(choose({ text: 'Hi' })),
      event({ ...choose({ text: '', finish_reason: 'stop' }), usage }),
      'data: [DONE]\n\n',
    ],
  ],
  [
    'anthropic',
    '/v1/messages',
    [
      event({ type: 'message_start', message: { ...claude, id: 'm', usage: { input_tokens: 1 } } }),
      event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } }),
      event({
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { output_tokens: 1 },
      }),
      event({ type: 'message_stop' }),
    ],
  ],
  [
    'openai',
    '/v1/responses',
    [
      event({ type: 'response.created', response: { id: 'r', status: 'in_progress' } }),
      event({ type: 'response.output_text.delta', delta: 'Hi' }),
      event({
        type: 'response.completed',
        response: { status: 'completed', usage: { input_tokens: 1, output_tokens: 1 } },
      }),
    ],
  ],
]

const withoutData = [
  ': c\n\n',
  ': c\n: d\n\n\n',
  'data:\n\n',
  'data: \n\n',
  'event: ping\n\n',
  'id: 1\n\n',
]

test.each(verbatim)(
  'events without data of %s do not reach a client of %s',
  async (kind, path, sent) => {
    const { get, upstream } = await gateway(kind)
    const receive = async (pieces: readonly string[]) => {
      upstream.next(stream(pieces))
      const body = JSON.stringify({ model: 'm', ...bodies[path], stream: true })
      return (await get(path, { method: 'POST', body })).text()
    }
    const plain = await receive(sent)
    expect(plain.startsWith(sent[0] ?? '')).toBe(true)
    expect(await receive(sent.flatMap((one) => [...withoutData, one]))).toBe(plain)
  },
)
