import { describe, expect, test } from 'vitest'
import { testGateway } from '../support/gateway.ts'
import { json } from '../support/scripted-upstream.ts'

const provider = (kind: string, upstreamId: string, more = '') => `
[[providers]]
name = "p"
kind = "${kind}"
api_key_env = "P_KEY"
${more}
models = [{ id = "m", upstream_id = "${upstreamId}" }]
`

const texts = ['One ', 'two.']
const claude = 'anthropic.claude-sonnet-4-5-20250929-v1:0'
const usage = { inputTokens: 9, outputTokens: 2, totalTokens: 11 }
const converse = (content: readonly object[]) => ({
  output: { message: { role: 'assistant', content } },
  stopReason: 'end_turn',
  usage,
})
const bedrock = provider('bedrock', claude, 'base_url = "us-east-1"')
const cohere = provider('cohere', 'command-a-03-2025')
const command = (message: object, reason = 'COMPLETE') => ({
  id: 'c1',
  finish_reason: reason,
  message: { role: 'assistant', ...message },
  usage: { tokens: { input_tokens: 9, output_tokens: 2 } },
})

const anthropicAnswer = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'claude-sonnet-4-5',
  content: texts.map((text) => ({ type: 'text', text })),
  stop_reason: 'end_turn',
  usage: { input_tokens: 9, output_tokens: 2 },
}

const geminiAnswer = {
  candidates: [
    {
      content: { role: 'model', parts: texts.map((text) => ({ text })) },
      finishReason: 'STOP',
    },
  ],
  usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2, totalTokenCount: 11 },
}

const bodies = {
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'Hi' }] },
  '/v1/messages': { max_tokens: 64, messages: [{ role: 'user', content: 'Hi' }] },
  '/v1/responses': { input: 'Hi' },
} as const

async function ask(config: string, path: keyof typeof bodies, answer: object) {
  const { get, upstream } = await testGateway(config)
  upstream.next(json(answer))
  const body = JSON.stringify({ model: 'm', ...bodies[path] })
  const response = await get(path, { method: 'POST', body })
  expect(response.status, await response.clone().text()).toBe(200)
  // The tests read the members of their own door.
  return (await response.json()) as Record<'choices' | 'content' | 'output', unknown>
}

describe('an answer whose text comes in two pieces', () => {
  const kinds: [string, string, object][] = [
    ['google', provider('google', 'gemini-3-flash-preview'), geminiAnswer],
    ['bedrock', bedrock, converse(texts.map((text) => ({ text })))],
    ['cohere', cohere, command({ content: texts.map((text) => ({ type: 'text', text })) })],
    ['anthropic', provider('anthropic', 'claude-sonnet-4-5'), anthropicAnswer],
  ]

  test.each(kinds)('of %s is only its text on every door', async (kind, config, answer) => {
    const chat = await ask(config, '/v1/chat/completions', answer)
    expect(chat.choices).toMatchObject([{ message: { content: 'One two.' } }])
    expect(JSON.stringify(chat)).not.toContain('provider_content')
    const { output } = await ask(config, '/v1/responses', answer)
    expect(output).toMatchObject([{ type: 'message', content: [{ text: 'One two.' }] }])
    if (kind === 'anthropic') return
    const { content } = await ask(config, '/v1/messages', answer)
    expect(content).toEqual([{ type: 'text', text: 'One two.', citations: null }])
  })

  test('has one block of thinking for signed reasoning', async () => {
    const signed = { reasoningText: { text: 'Hm.', signature: 'c2ln' } }
    const blocks = [{ reasoningContent: signed }, ...texts.map((text) => ({ text }))]
    const { content } = await ask(bedrock, '/v1/messages', converse(blocks))
    expect(content).toEqual([
      { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
      { type: 'text', text: 'One two.', citations: null },
    ])
  })

  test('has the blocks of Gemini where one of the pieces is signed', async () => {
    const parts = [{ text: 'One ' }, { text: 'two.', thoughtSignature: 'c2ln' }]
    const answer = { candidates: [{ content: { role: 'model', parts }, finishReason: 'STOP' }] }
    const config = provider('google', 'gemini-3-flash-preview')
    const chat = await ask(config, '/v1/chat/completions', answer)
    expect(chat.choices).toMatchObject([{ message: { provider_content: { content: parts } } }])
  })

  test('has blocks where a text follows a call', async () => {
    const toolUse = { toolUseId: 't1', name: 'f', input: {} }
    const blocks = [{ text: 'One ' }, { toolUse }, { text: 'two.' }]
    const chat = await ask(bedrock, '/v1/chat/completions', converse(blocks))
    expect(chat.choices).toMatchObject([{ message: { provider_content: { content: blocks } } }])
  })
})

describe('a call of Command without arguments', () => {
  const call = { id: 'f_1', type: 'function', function: { name: 'f', arguments: '' } }

  test.each(['', 'null', '{}'])('as %j needs no blocks', async (given) => {
    const calls = [{ ...call, function: { name: 'f', arguments: given } }]
    const answer = command({ tool_calls: calls }, 'TOOL_CALL')
    const chat = await ask(cohere, '/v1/chat/completions', answer)
    expect(JSON.stringify(chat)).not.toContain('provider_content')
    const { content } = await ask(cohere, '/v1/messages', answer)
    expect(content).toEqual([{ type: 'tool_use', id: expect.any(String), name: 'f', input: {} }])
  })

  test('goes back with an empty object, also among blocks', async () => {
    const { get, upstream } = await testGateway(cohere)
    const said = {
      role: 'assistant',
      content: null,
      tool_calls: [{ ...call, function: { name: 'f', arguments: '{}' } }],
      provider_content: { family: 'cohere', content: [{ tool_plan: 'Ask f.' }, call] },
    }
    const messages = [
      { role: 'user', content: 'Hi' },
      said,
      { role: 'tool', tool_call_id: 'f_1', content: 'x' },
    ]
    upstream.next(json(command({ content: [{ type: 'text', text: 'ok' }] })))
    const body = JSON.stringify({ model: 'm', messages })
    await (await get('/v1/chat/completions', { method: 'POST', body })).text()
    expect(upstream.body()).toMatchObject({
      messages: [
        {},
        { tool_plan: 'Ask f.', tool_calls: [{ function: { name: 'f', arguments: '{}' } }] },
        {},
      ],
    })
  })
})
