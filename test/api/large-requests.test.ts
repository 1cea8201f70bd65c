import { describe, expect, test } from 'vitest'
import { completion, done, hello, role } from '../support/answers.ts'
import { readError } from '../support/gateway.ts'
import { keyedGateway } from '../support/keyed-gateway.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const config = `
[[providers]]
name = "verbatim"
kind = "openai"
base_url = "http://p.test"
models = [{ id = "verbatim" }]
[[providers]]
name = "translated"
kind = "anthropic"
base_url = "http://p.test"
models = [{ id = "translated" }]
`

const call = (args: string) => ({
  role: 'assistant',
  tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: args } }],
})
const user = { role: 'user', content: 'Hi' }
const result = { role: 'tool', tool_call_id: 'c', content: 'x' }

/** Requests that OpenAI-format providers receive unchanged, and that take too long to translate. */
const requests = [
  ['many tools', { messages: [user], tools: Array.from({ length: 120_000 }, () => ({})) }, null],
  ['an array of numbers', { messages: [user], x: Array(300_000).fill(1) }, null],
  [
    'numbers in the arguments of a call',
    { messages: [user, call(`{"a":[${Array(300_000).fill(1)}]}`), result] },
    'messages.1.tool_calls.0.function.arguments',
  ],
  [
    'objects in the arguments of several calls',
    {
      messages: [
        user,
        call(`[${Array(40_000).fill('{}')}]`),
        call(`[${Array(40_000).fill('{}')}]`),
      ],
    },
    'messages.2.tool_calls.0.function.arguments',
  ],
] as const

describe.each(requests)('a request that is too large to translate: %s', (_, fields, param) => {
  test('a request too large to translate is refused with LM-1001 before any call', async () => {
    const { chat, upstream } = await watchedGateway(config)
    const response = await chat({ model: 'translated', ...fields })
    expect(response.status).toBe(400)
    expect(await readError(response)).toMatchObject({ code: 'LM-1001', param })
    expect(upstream.requests).toEqual([])
  })

  test('a request too large to translate is forwarded to a verbatim link', async () => {
    const { chat, upstream } = await watchedGateway(config)
    upstream.always(json(completion()))
    const body = JSON.stringify({ model: 'verbatim', ...fields })
    expect((await chat(body)).status).toBe(200)
    expect(upstream.text()).toBe(body)
  })
})

test('long arguments with few values are translated', async () => {
  const { chat, upstream } = await watchedGateway(config)
  upstream.always(
    json({ type: 'message', role: 'assistant', content: [], stop_reason: 'end_turn' }),
  )
  const args = JSON.stringify({ text: '[{},1,"'.repeat(100_000) })
  const response = await chat({ model: 'translated', messages: [user, call(args), result] })
  expect(response.status).toBe(200)
})

test('any number of members with the name stream_options get the option for usage', async () => {
  const gateway = await keyedGateway()
  const { headers } = await gateway.key()
  gateway.upstream.next(stream([role, hello, done]))
  const members = '"stream_options":null,'.repeat(150_000)
  const body = `{"model":"m",${members}"messages":[{"role":"user","content":"Hi"}],"stream":true}`
  const response = await gateway.get('/v1/chat/completions', { method: 'POST', headers, body })
  expect(response.status).toBe(200)
  expect(gateway.upstream.text().split('"include_usage":true')).toHaveLength(150_001)
})
