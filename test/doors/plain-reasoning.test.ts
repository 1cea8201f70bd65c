import { describe, expect, test } from 'vitest'
import { makeChain } from '../support/chain.ts'
import { type TestGateway, testGateway } from '../support/gateway.ts'
import { json } from '../support/scripted-upstream.ts'

/*
 * Reasoning that a client returns as text, without a proof, goes to every family that takes text back, and to no
 * other.
 */

type Json = Readonly<Record<string, unknown>>

const thought = 'I must call it.'
const secondThought = 'Twice.'

/** A door, and a conversation in which the model called a tool after thinking. */
interface Door {
  readonly name: string
  readonly path: string
  readonly body: Json
}

const call = { type: 'function_call', call_id: 'call_1', name: 'f', arguments: '{}' }
const output = { type: 'function_call_output', call_id: 'call_1', output: 'ok' }
const user = { role: 'user', content: 'Go' }

function responses(name: string, item: Json, more: Json = {}): Door {
  const reasoning = { type: 'reasoning', id: 'rs_1', summary: [], ...item }
  const body = { input: [user, reasoning, call, output], ...more }
  return { name: `Responses, ${name}`, path: '/v1/responses', body: { model: 'm', ...body } }
}

const summary = [{ type: 'summary_text', text: thought }]
const content = [{ type: 'reasoning_text', text: thought }]

const doors: readonly Door[] = [
  responses('the whole text', { content, encrypted_content: null }),
  responses('a summary beside the whole text', {
    content,
    summary: [{ type: 'summary_text', text: 'It calls.' }],
  }),
  responses('a summary', { summary, store: false }),
  {
    name: 'Messages',
    path: '/v1/messages',
    body: {
      model: 'm',
      max_tokens: 100,
      messages: [
        user,
        {
          role: 'assistant',
          content: [
            { type: 'thinking', thinking: thought, signature: '' },
            { type: 'tool_use', id: 'call_1', name: 'f', input: {} },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1', content: 'ok' }] },
      ],
    },
  },
  {
    name: 'Gemini',
    path: '/v1beta/models/m:generateContent',
    body: {
      contents: [
        { role: 'user', parts: [{ text: 'Go' }] },
        {
          role: 'model',
          parts: [
            { text: thought, thought: true },
            { functionCall: { id: 'call_1', name: 'f', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [{ functionResponse: { id: 'call_1', name: 'f', response: { output: 'ok' } } }],
        },
      ],
    },
  },
]

const chunk = { type: 'thinking', thinking: [{ type: 'text', text: thought }], closed: true }

/** Upstreams, and the member of the answer in which they take text back. */
const takers: readonly (readonly [kind: string, upstreamId: string, members: Json])[] = [
  ['deepseek', 'deepseek-v4-pro', { reasoning_content: thought }],
  ['moonshot', 'kimi-k2.6', { reasoning_content: thought }],
  ['moonshot', 'kimi-k3', { reasoning_content: thought }],
  ['zai', 'glm-5.2', { reasoning_content: thought }],
  ['minimax', 'MiniMax-M3', { reasoning_details: [{ type: 'reasoning.text', text: thought }] }],
  ['vllm', 'minimax-m2', { reasoning: thought }],
  ['vllm', 'Qwen/Qwen3.5-9B', { reasoning: thought }],
  ['sglang', 'deepseek-v3.2', { reasoning_content: thought }],
  ['llamacpp', 'qwen3.5', { reasoning_content: thought }],
  ['ollama', 'gpt-oss:20b', { reasoning: thought }],
  ['groq', 'openai/gpt-oss-120b', { reasoning: thought }],
  ['mistral', 'magistral-medium', { content: [chunk] }],
  [
    'openrouter',
    'minimax/minimax-m3',
    { reasoning_details: [{ type: 'reasoning.text', text: thought }] },
  ],
]

/** Upstreams that sign or encrypt their reasoning, or take none back. */
const others: readonly (readonly [kind: string, upstreamId: string])[] = [
  // It is not known under which name it takes reasoning.
  ['openai', 'my-model'],
  ['openai', 'gpt-5.5'],
  ['azure', 'gpt-5.5'],
  ['xai', 'grok-4.3'],
  ['dashscope', 'qwen3-max'],
  ['deepseek', 'deepseek-r1'],
  ['openrouter', 'anthropic/claude-opus-4.5'],
  ['openrouter', 'google/gemini-3-pro'],
  ['anthropic', 'claude-sonnet-5'],
  ['google', 'gemini-3-pro'],
  ['bedrock', 'anthropic.claude-sonnet-4-5'],
  ['cohere', 'command-a-reasoning'],
]

async function send(kind: string, upstreamId: string, { path, body }: Door): Promise<TestGateway> {
  const link = { kind, model: `upstream_id = "${upstreamId}"` }
  const gateway = await testGateway(makeChain([link], 'retry_max_attempts = 1'), {
    env: { P_KEY: 'key' },
  })
  gateway.upstream.next(json({}, { status: 503 }))
  await gateway.get(path, { method: 'POST', body: JSON.stringify(body) })
  expect(gateway.upstream.requests).toHaveLength(1)
  return gateway
}

/** The request of the upstream as text. */
function sent({ upstream }: TestGateway): string {
  return JSON.stringify(upstream.body())
}

describe.each(doors)('$name: reasoning that is text', (door) => {
  test.each(takers)('returns to %s, %s', async (kind, upstreamId, members) => {
    const { upstream } = await send(kind, upstreamId, door)
    const { messages } = upstream.body() as { messages: readonly Json[] }
    expect(messages.find(({ role }) => role === 'assistant')).toMatchObject(members)
  })

  // What speaks the API of the client gets its bytes, see below.
  const native = (kind: string) => door.path.includes('generateContent') && kind === 'google'
  test.each(others.filter(([kind]) => !native(kind)))('does not reach %s, %s', async (kind, id) => {
    expect(sent(await send(kind, id, door))).not.toContain(thought)
  })
})

test('reasoning of one answer keeps its order, with and without a summary of its own', async () => {
  const second = [{ type: 'summary_text', text: secondThought }]
  const items = [summary, second].map((each) => ({ type: 'reasoning', summary: each }))
  const body = { model: 'm', input: [user, ...items, call, output] }
  const door = { name: '', path: '/v1/responses', body }
  const { upstream } = await send('zai', 'glm-5.2', door)
  const { messages } = upstream.body() as { messages: readonly Json[] }
  expect(messages[1]).toMatchObject({ reasoning_content: `${thought}${secondThought}` })
})
