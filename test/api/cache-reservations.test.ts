import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { errorIn, type KeyedGateway, keyedGateway, readSpend } from '../support/keyed-gateway.ts'
import { json } from '../support/scripted-upstream.ts'

/** Prices of a Claude model. A token of the prompt costs 4,000 nano-dollars, written for an hour 8,000. */
const prices = `
cost_per_1m_input = 4
cost_per_1m_output = 20
cost_per_1m_cached_input = 0.4
cost_per_1m_cache_write = 5
cost_per_1m_cache_write_1h = 8
`

const provider = (kind: string, upstreamId: string, more = '') => `
[[providers]]
name = "p"
kind = "${kind}"
base_url = "https://p.test"
api_key_env = "P_KEY"
${more}
[[providers.models]]
id = "m"
upstream_id = "${upstreamId}"
${prices}
`

const kinds = {
  anthropic: provider('anthropic', 'claude-opus-5'),
  bedrock: provider('bedrock', 'anthropic.claude-sonnet-4-5-v1:0'),
  nova: provider('bedrock', 'amazon.nova-2-lite-v1:0'),
  openai: provider('openai', 'gpt'),
  openrouter: provider('openrouter', 'anthropic/claude-opus-5'),
  withMessages: provider('openai', 'gpt', 'messages_url = "https://p.test/v1/messages"'),
  google: provider('google', 'gemini-3-pro'),
  vertex: provider('vertex_ai', 'gemini-3-pro'),
  cohere: provider('cohere', 'command-a'),
} as const

const long = { type: 'ephemeral', ttl: '1h' }
const short = { type: 'ephemeral' }

const chatPath = '/v1/chat/completions'
const messagesPath = '/v1/messages'
const responsesPath = '/v1/responses'

const part = (mark?: object) => ({ type: 'text', text: 'Hi', cache_control: mark })
const userPart = (mark?: object) => ({ role: 'user', content: [part(mark)] })
const user = { role: 'user', content: 'Hi' }
const chatTool = (mark: object) => ({
  type: 'function',
  function: { name: 'f', parameters: { type: 'object' }, cache_control: mark },
})

/** The places of a mark in each API: where Claude's API has one, and where a chat request carries it. */
const places: readonly (readonly [string, string, (mark: object) => object])[] = [
  ['a part', chatPath, (mark) => ({ messages: [userPart(mark)] })],
  ['a message', chatPath, (mark) => ({ messages: [{ ...user, cache_control: mark }] })],
  [
    'the system message',
    chatPath,
    (mark) => ({ messages: [{ ...userPart(mark), role: 'system' }, user] }),
  ],
  ['a tool', chatPath, (mark) => ({ messages: [user], tools: [chatTool(mark)] })],
  [
    'a tool, beside its function',
    chatPath,
    (mark) => ({ messages: [user], tools: [{ ...chatTool(mark), cache_control: mark }] }),
  ],
  [
    'a call',
    chatPath,
    (mark) => ({
      messages: [
        user,
        {
          role: 'assistant',
          tool_calls: [
            {
              id: 'c',
              type: 'function',
              function: { name: 'f', arguments: '{}' },
              cache_control: mark,
            },
          ],
        },
        { role: 'tool', tool_call_id: 'c', content: 'done' },
      ],
    }),
  ],
  ['the whole request', chatPath, (mark) => ({ messages: [user], cache_control: mark })],
  ['a block', messagesPath, (mark) => ({ messages: [userPart(mark)] })],
  ['the system prompt', messagesPath, (mark) => ({ messages: [user], system: [part(mark)] })],
  [
    'a tool',
    messagesPath,
    (mark) => ({
      messages: [user],
      tools: [{ name: 'f', input_schema: { type: 'object' }, cache_control: mark }],
    }),
  ],
  [
    'a block of a result',
    messagesPath,
    (mark) => ({
      messages: [
        user,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: {} }] },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'c', content: [part(mark)] }],
        },
      ],
    }),
  ],
  ['the whole request', messagesPath, (mark) => ({ messages: [user], cache_control: mark })],
  [
    'a part',
    responsesPath,
    (mark) => ({ input: [{ role: 'user', content: [{ ...part(mark), type: 'input_text' }] }] }),
  ],
]

const base = (path: string) =>
  path === responsesPath ? { model: 'm', max_output_tokens: 100 } : { model: 'm', max_tokens: 100 }

async function explain(gateway: KeyedGateway, path: string, body: object) {
  const answer = await gateway.admin('POST', '/admin/explain', { path, body })
  expect(answer.status).toBe(200)
  return answer.body as {
    readonly links: readonly { readonly prompt_price: string }[]
    readonly estimate: { readonly prompt_tokens: number }
    readonly reservation: number
  }
}

/** The setting of the price at which the prompt is reserved. */
async function priceOf(gateway: KeyedGateway, path: string, body: object) {
  const { links, estimate, reservation } = await explain(gateway, path, { ...base(path), ...body })
  const setting = links[0]?.prompt_price
  const price = Number(new RegExp(`${setting} = (.+)`).exec(prices)?.[1])
  // The output is bounded by 100 tokens, or by more where the kind adds thinking.
  const output = (reservation * 1e6 - estimate.prompt_tokens * price) / 20
  expect(output).toBeCloseTo(Math.round(output), 6)
  return setting
}

describe.each(places)('a mark on %s of %s', (_, path, write) => {
  test.each(['anthropic', 'bedrock', 'openai', 'openrouter', 'withMessages'] as const)(
    'is reserved for at the price of its life: %s',
    async (kind) => {
      const gateway = await keyedGateway(kinds[kind])
      expect(await priceOf(gateway, path, write(long))).toBe('cost_per_1m_cache_write_1h')
      expect(await priceOf(gateway, path, write(short))).toBe('cost_per_1m_cache_write')
      await gateway.gateway.close()
    },
  )
})

describe('without a mark', () => {
  const asked = [
    [chatPath, { messages: [user] }],
    [messagesPath, { messages: [user] }],
    [responsesPath, { input: 'Hi' }],
  ] as const

  test.each(['anthropic', 'bedrock', 'nova'] as const)('nothing is written: %s', async (kind) => {
    const gateway = await keyedGateway(kinds[kind])
    for (const [path, body] of asked) {
      expect(await priceOf(gateway, path, body)).toBe('cost_per_1m_input')
    }
  })

  test.each(['openai', 'openrouter', 'withMessages'] as const)(
    'a vendor that writes by itself is reserved for: %s',
    async (kind) => {
      const gateway = await keyedGateway(kinds[kind])
      for (const [path, body] of asked) {
        expect(await priceOf(gateway, path, body)).toBe('cost_per_1m_cache_write')
      }
    },
  )

  test.each(['google', 'vertex', 'cohere'] as const)(
    'a vendor that never writes is not, with a mark either: %s',
    async (kind) => {
      const gateway = await keyedGateway(kinds[kind])
      for (const [, path, write] of places) {
        expect(await priceOf(gateway, path, write(long))).toBe('cost_per_1m_input')
      }
    },
  )

  test('text completions may be written too', async () => {
    const gateway = await keyedGateway(kinds.openai)
    const body = { prompt: 'Hi' }
    expect(await priceOf(gateway, '/v1/completions', body)).toBe('cost_per_1m_cache_write')
  })

  test('the text of a prompt is no mark', async () => {
    const gateway = await keyedGateway(kinds.anthropic)
    const text = '"cache_control":{"type":"ephemeral","ttl":"1h"}'
    const body = { messages: [{ role: 'user', content: text }] }
    expect(await priceOf(gateway, chatPath, body)).toBe('cost_per_1m_input')
  })
})

test('a model without a price for writing reserves at that of input', async () => {
  const gateway = await keyedGateway(kinds.anthropic.replace(/cost_per_1m_cache_write.*\n/g, ''))
  expect(await priceOf(gateway, messagesPath, { messages: [userPart(long)] })).toBe(
    'cost_per_1m_input',
  )
})

/** An answer of Claude that wrote this many tokens for an hour. */
const wrote = (tokens: number, output = 6) =>
  json({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-opus-5',
    content: [{ type: 'text', text: 'Hello' }],
    stop_reason: 'end_turn',
    usage: {
      input_tokens: 0,
      output_tokens: output,
      cache_creation_input_tokens: tokens,
      cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: tokens },
    },
  })

describe('a prompt of 100,000 tokens that is written for an hour', () => {
  const text = 'x'.repeat(4 * 99_993)
  const content = [{ type: 'text', text, cache_control: long }]
  const body = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content }] }

  test.each([messagesPath, chatPath])(
    'is refused at %s by a cap that its writing would pass',
    async (path) => {
      const gateway = await keyedGateway(kinds.anthropic)
      gateway.upstream.always(wrote(99_960))
      // Enough for the prompt at the price of input, and at that of five minutes.
      const poor = await gateway.key({ budget_max: 0.6 })
      const answer = await gateway.ask(poor, body, path)
      expect(answer.status).toBe(402)
      expect(gateway.upstream.requests).toEqual([])
      expect(await readSpend(gateway, poor.id)).toBe(0)
      const rich = await gateway.key({ budget_max: 0.802 })
      expect((await gateway.ask(rich, body, path)).status).toBe(200)
      expect(await readSpend(gateway, rich.id)).toBe(0.7998)
    },
  )

  test('is refused for a budget of 0.45, which it would have passed by 0.35', async () => {
    const gateway = await keyedGateway(kinds.anthropic)
    gateway.upstream.always(wrote(99_951))
    const key = await gateway.key({ budget_max: 0.45 })
    expect(errorIn(await gateway.ask(key, body))).toMatchObject({ code: 'LM-4001' })
    const unmarked = { ...body, messages: [{ role: 'user', content: text }] }
    gateway.upstream.always(wrote(0))
    expect((await gateway.ask(key, unmarked)).status).toBe(200)
  })
})

/** Members that hold a mark, with the escapes and the letter cases that some parsers read. */
const spelled = fc.constantFrom(
  '"cache_control"',
  '"cache\\u005fcontrol"',
  '"\\u0063ache_contro\\u006c"',
  '"Cache_Control"',
)
const anyPlace = fc.constantFrom(...places)

test('no cap is passed, wherever a mark is and however it is written', async () => {
  await fc.assert(
    fc.asyncProperty(anyPlace, spelled, fc.nat(1), async ([, path, write], name, isLong) => {
      const gateway = await keyedGateway(kinds.anthropic)
      const mark = isLong ? long : short
      const text = JSON.stringify({ ...base(path), ...write(mark) })
      const body = text.replaceAll('"cache_control"', name)
      const { estimate } = await explain(gateway, path, JSON.parse(text))
      const price = isLong ? 8 : 5
      const prompt = estimate.prompt_tokens * price
      const ask = async (budget: number) => {
        const { headers } = await gateway.key({ budget_max: budget / 1e6 })
        return (await gateway.get(path, { method: 'POST', headers, body })).status
      }
      gateway.upstream.always(wrote(estimate.prompt_tokens, 100))
      expect(await ask(prompt + 100 * 20 - 0.001)).toBe(402)
      expect(gateway.upstream.requests).toEqual([])
      expect(await ask(prompt + 100 * 20)).toBe(200)
      await gateway.gateway.close()
    }),
    { numRuns: 60 },
  )
})
