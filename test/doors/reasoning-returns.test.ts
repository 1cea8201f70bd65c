import Anthropic from '@anthropic-ai/sdk'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { completion, done, makeChunk } from '../support/answers.ts'
import { type TestGateway, testGateway } from '../support/gateway.ts'
import { json, type Responder, stream } from '../support/scripted-upstream.ts'

/*
 * Random answers with reasoning and tool calls go through a door to its client, which sends them back as it got
 * them. The upstream must find what it has sent, unchanged: reasoning, ids and names of calls.
 */

/** An upstream, and how it sends reasoning and wants it back. */
interface Upstream {
  readonly kind: string
  readonly upstreamId: string
  /** The members of a message that hold this reasoning. */
  readonly toMembers: (reasoning: string) => Json
  /** The same in the next request, where that differs. */
  readonly expected?: (reasoning: string) => Json
  /** The members of the deltas that bring it in pieces. */
  readonly toDeltas: (pieces: readonly string[]) => readonly Json[]
}

type Json = Readonly<Record<string, unknown>>

const plain = (name: string): Pick<Upstream, 'toMembers' | 'toDeltas'> => ({
  toMembers: (reasoning) => ({ [name]: reasoning }),
  toDeltas: (pieces) => pieces.map((piece) => ({ [name]: piece })),
})

const upstreams: readonly Upstream[] = [
  { kind: 'deepseek', upstreamId: 'deepseek-chat', ...plain('reasoning_content') },
  { kind: 'moonshot', upstreamId: 'kimi-k2.6', ...plain('reasoning_content') },
  { kind: 'moonshot', upstreamId: 'kimi-k3', ...plain('reasoning_content') },
  { kind: 'zai', upstreamId: 'glm-5.3', ...plain('reasoning_content') },
  { kind: 'groq', upstreamId: 'openai/gpt-oss-120b', ...plain('reasoning') },
  { kind: 'cerebras', upstreamId: 'gpt-oss-120b', ...plain('reasoning') },
  { kind: 'vllm', upstreamId: 'my-model', ...plain('reasoning') },
  { kind: 'sglang', upstreamId: 'my-model', ...plain('reasoning_content') },
  { kind: 'llamacpp', upstreamId: 'my-model', ...plain('reasoning_content') },
  { kind: 'ollama', upstreamId: 'my-model', ...plain('reasoning') },
  { kind: 'fireworks', upstreamId: 'my-model', ...plain('reasoning_content') },
  {
    kind: 'minimax',
    upstreamId: 'MiniMax-M2.7',
    toMembers: (text) => ({ reasoning_details: [{ type: 'reasoning.text', text, index: 0 }] }),
    toDeltas: (pieces) =>
      pieces.map((text) => ({ reasoning_details: [{ type: 'reasoning.text', text, index: 0 }] })),
  },
  {
    kind: 'openrouter',
    upstreamId: 'google/gemini-3-pro',
    toMembers: (text) => ({ reasoning: text, reasoning_details: [encrypted(text)] }),
    expected: (text) => ({ reasoning_details: [encrypted(text)] }),
    toDeltas: (pieces) => [
      ...pieces.map((text) => ({ reasoning: text })),
      { reasoning_details: [encrypted(pieces.join(''))] },
    ],
  },
  {
    kind: 'mistral',
    upstreamId: 'magistral-medium',
    toMembers: (text) => ({ content: [thinking(text)] }),
    toDeltas: (pieces) => pieces.map((text) => ({ content: [thinking(text)] })),
  },
]

function encrypted(data: string): Json {
  return { type: 'reasoning.encrypted', data, format: 'google-gemini-v1', id: 'r1', index: 0 }
}

function thinking(text: string): Json {
  return { type: 'thinking', thinking: [{ type: 'text', text }], closed: true }
}

/** A turn of the model: its reasoning, in pieces, and its calls. */
const turns = fc.record({
  pieces: fc.array(fc.string({ minLength: 1, maxLength: 8, unit: 'grapheme' }), {
    minLength: 1,
    maxLength: 3,
  }),
  ids: fc.uniqueArray(fc.stringMatching(/^[a-zA-Z0-9_.:-]{1,30}$/), { minLength: 1, maxLength: 3 }),
  name: fc.constantFrom('f', 'read-file', `mcp__${'long_'.repeat(14)}tool`),
  isStream: fc.boolean(),
})

type Turn = typeof turns extends fc.Arbitrary<infer Value> ? Value : never

function setUp({ kind, upstreamId }: Upstream): Promise<TestGateway> {
  return testGateway(
    `[[providers]]\nname = "p"\nkind = "${kind}"\nbase_url = "http://up.test/v1"\n[[providers.models]]\nid = "m"\nupstream_id = "${upstreamId}"`,
  )
}

/** The ids that the upstream has given. Mistral has a form of its own. */
function toIds({ kind }: Upstream, { ids }: Turn): readonly string[] {
  return kind === 'mistral' ? ids.map((_, at) => `abcdefgh${at}`) : ids
}

/** Lets the upstream answer the next request with the turn, under the name that the only tool has there. */
function answer({ upstream }: TestGateway, from: Upstream, turn: Turn): void {
  upstream.next((request) => {
    const { tools } = JSON.parse(new TextDecoder().decode(request.body)) as Offered
    const name = tools[0].function.name
    expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    return write(from, turn, name)(request)
  })
}

interface Offered {
  readonly tools: readonly [{ readonly function: { readonly name: string } }]
}

function write(from: Upstream, turn: Turn, name: string): Responder {
  const calls = toIds(from, turn).map((id, index) => ({
    index,
    id,
    type: 'function',
    function: { name, arguments: '{"a":1}' },
  }))
  const { pieces, isStream } = turn
  if (!isStream) {
    const members = { content: null, ...from.toMembers(pieces.join('')) }
    const message = { role: 'assistant', ...members, tool_calls: calls }
    const choice = { index: 0, message, finish_reason: 'tool_calls' }
    return json(completion('', { choices: [choice] }))
  }
  const deltas = [...from.toDeltas(pieces), ...calls.map((call) => ({ tool_calls: [call] }))]
  const chunks = deltas.map((delta) =>
    makeChunk({ choices: [{ index: 0, delta, finish_reason: null }] }),
  )
  const last = makeChunk({ choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] })
  return stream([...chunks, last, done])
}

/** Checks the answer of the model in the request that followed it. */
function expectReturned({ upstream }: TestGateway, from: Upstream, turn: Turn): void {
  const { messages } = upstream.body() as { messages: readonly Json[] }
  const past = messages.find(({ role }) => role === 'assistant')
  const reasoning = turn.pieces.join('')
  expect(past).toMatchObject((from.expected ?? from.toMembers)(reasoning))
  const calls = past?.['tool_calls'] as readonly { readonly id: string }[]
  expect(calls.map(({ id }) => id)).toEqual(toIds(from, turn))
  const results = messages.filter(({ role }) => role === 'tool')
  expect(results.map((result) => result['tool_call_id'])).toEqual(toIds(from, turn))
}

const schema = { type: 'object' as const, properties: { a: { type: 'integer' } } }

describe.each(upstreams)('reasoning of $kind, $upstreamId', (from) => {
  test('returns through the Messages API', async () => {
    const run = async (turn: Turn) => {
      const gateway = await setUp(from)
      const client = new Anthropic({
        apiKey: 'any',
        baseURL: 'http://gateway.test',
        maxRetries: 0,
        fetch: (url, init) => gateway.gateway.fetch(new Request(String(url), init as RequestInit)),
      })
      const tools = [{ name: turn.name, input_schema: schema }]
      const first = [{ role: 'user' as const, content: 'Go' }]
      const ask = (messages: Anthropic.MessageParam[]) => {
        const request = { model: 'm', max_tokens: 64, tools, messages }
        return turn.isStream
          ? client.messages.stream(request).finalMessage()
          : client.messages.create(request)
      }
      answer(gateway, from, turn)
      const { content } = await ask(first)
      const uses = content.filter((block) => block.type === 'tool_use')
      expect(uses.map(({ name }) => name)).toEqual(uses.map(() => turn.name))
      const results = uses.map(({ id }) => ({
        type: 'tool_result' as const,
        tool_use_id: id,
        content: 'ok',
      }))
      answer(gateway, from, turn)
      await ask([
        ...first,
        { role: 'assistant', content: content as Anthropic.ContentBlockParam[] },
        { role: 'user', content: results },
      ])
      expectReturned(gateway, from, turn)
    }
    await fc.assert(fc.asyncProperty(turns, run), { numRuns: 12 })
  })

  test('returns through the Responses API', async () => {
    const run = async (turn: Turn) => {
      const gateway = await setUp(from)
      const tools = [{ type: 'function', name: turn.name, parameters: schema }]
      const ask = async (input: readonly unknown[]) => {
        const body = JSON.stringify({ model: 'm', input, tools, stream: turn.isStream })
        const response = await gateway.get('/v1/responses', { method: 'POST', body })
        const text = await response.text()
        if (!turn.isStream) return JSON.parse(text) as { output: readonly Json[] }
        const last = text.split('data: ').findLast((event) => event.includes('response.completed'))
        return (JSON.parse(last ?? '{}') as { response: { output: readonly Json[] } }).response
      }
      const first = { role: 'user', content: 'Go' }
      answer(gateway, from, turn)
      const { output } = await ask([first])
      const calls = output.filter(({ type }) => type === 'function_call')
      expect(calls.map(({ name }) => name)).toEqual(calls.map(() => turn.name))
      const results = calls.map((call) => ({
        type: 'function_call_output',
        call_id: call['call_id'],
        output: 'ok',
      }))
      answer(gateway, from, turn)
      await ask([first, ...output, ...results])
      expectReturned(gateway, from, turn)
    }
    await fc.assert(fc.asyncProperty(turns, run), { numRuns: 12 })
  })
})
