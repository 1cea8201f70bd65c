import { describe, expect, test } from 'vitest'
import type { Tokenizer } from '../../src/index.ts'
import { chunk, completion, data, done, hello, makeChunk, role, stop } from '../support/answers.ts'
import { vectors } from '../support/embed.ts'
import { keyedGateway, pricedProvider, prompt, readSpend } from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { json, LiveUpstream, stream } from '../support/scripted-upstream.ts'
import { StreamReader, streamed } from '../support/stream-client.ts'

/** By the heuristic, `prompt()` is 8 tokens and "Hello" is 2. */
const judged: readonly (readonly [string, object, object])[] = [
  [
    'an output of 0 for an answer with text',
    { prompt_tokens: 7, completion_tokens: 0, total_tokens: 7 },
    { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9, estimated: true },
  ],
  [
    'no output for an answer with text',
    { prompt_tokens: 7, total_tokens: 7 },
    { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9, estimated: true },
  ],
  [
    'no output but reasoning tokens, which are the minimum of the output',
    { prompt_tokens: 7, completion_tokens_details: { reasoning_tokens: 300 } },
    {
      prompt_tokens: 7,
      completion_tokens: 300,
      total_tokens: 307,
      completion_tokens_details: { reasoning_tokens: 300 },
      estimated: true,
    },
  ],
  [
    'a prompt of 0',
    { prompt_tokens: 0, completion_tokens: 5, total_tokens: 5 },
    { prompt_tokens: 8, completion_tokens: 5, total_tokens: 13, estimated: true },
  ],
  [
    'no prompt',
    { completion_tokens: 5 },
    { prompt_tokens: 8, completion_tokens: 5, total_tokens: 13, estimated: true },
  ],
  [
    'a total alone, which gives neither side',
    { total_tokens: 500 },
    { prompt_tokens: 8, completion_tokens: 2, total_tokens: 10, estimated: true },
  ],
  [
    'more tokens written to a cache than prompt tokens',
    {
      prompt_tokens: 5,
      completion_tokens: 4,
      prompt_tokens_details: { cached_tokens: 3, cache_creation_tokens: 6 },
    },
    {
      prompt_tokens: 8,
      completion_tokens: 4,
      total_tokens: 12,
      prompt_tokens_details: { cached_tokens: 3, cache_creation_tokens: 6 },
      estimated: true,
    },
  ],
  [
    'no output beside what the vendor charges and other members of its own',
    {
      prompt_tokens: 7,
      completion_tokens: 0,
      total_tokens: 7,
      cost: 0.00012,
      cost_details: { upstream_inference_cost: null },
      is_byok: false,
      num_sources_used: 2,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 1 },
    },
    {
      prompt_tokens: 7,
      completion_tokens: 2,
      total_tokens: 9,
      cost: 0.00012,
      cost_details: { upstream_inference_cost: null },
      is_byok: false,
      num_sources_used: 2,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 1 },
      estimated: true,
    },
  ],
]

const priceTokens = ({ prompt_tokens, completion_tokens }: Record<string, number>) =>
  BigInt((prompt_tokens ?? 0) * 1_000 + (completion_tokens ?? 0) * 2_000)

describe('each count of usage is judged by itself', () => {
  test.each(judged)('a whole answer: %s', async (_, usage, expected) => {
    const gateway = await keyedGateway()
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.next(json(completion('Hello', { usage })))
    const { body } = await gateway.ask(key, prompt())
    expect(body['usage']).toEqual(expected)
    const counts = expected as Record<string, number>
    expect(await gateway.rows()).toMatchObject([
      {
        tokensIn: counts['prompt_tokens'],
        tokensOut: counts['completion_tokens'],
        tokensTotal: counts['total_tokens'],
        cachedTokens: 0,
        estimated: true,
        cost: priceTokens(counts),
      },
    ])
  })

  test.each(judged)('a stream: %s', async (_, usage, expected) => {
    const gateway = await keyedGateway()
    const key = await gateway.key({ budget_max: 1 })
    const sent = role + hello + chunk({}, { usage }, 'stop')
    gateway.upstream.next(stream([sent + done]))
    const response = await gateway.chat({ ...prompt(), stream: true }, { headers: key.headers })
    const choices = [{ index: 0, delta: {}, finish_reason: null }]
    const text = await response.text()
    expect(text.startsWith(sent) && text.endsWith(done)).toBe(true)
    const added = JSON.parse(text.slice(sent.length + 'data: '.length, -done.length))
    const identity = JSON.parse(makeChunk({ choices }).slice('data: '.length))
    expect(added).toEqual({ ...identity, usage: expected })
    const counts = expected as Record<string, number>
    expect(await gateway.rows()).toMatchObject([{ estimated: true, cost: priceTokens(counts) }])
  })

  /** Counts of vendors whose cached tokens are beside the prompt, or both read and written. */
  const credible: readonly (readonly [string, object, object])[] = [
    [
      'cached tokens beside the prompt',
      {
        prompt_tokens: 7,
        completion_tokens: 1,
        total_tokens: 8,
        prompt_tokens_details: { cached_tokens: 163, text_tokens: 7 },
      },
      { tokensIn: 170, tokensOut: 1, tokensTotal: 171, cachedTokens: 163, cost: 172_000n },
    ],
    [
      'cached tokens beside the prompt, and in the total',
      {
        prompt_tokens: 7,
        completion_tokens: 1,
        total_tokens: 171,
        prompt_tokens_details: { cached_tokens: 163 },
      },
      { tokensIn: 170, tokensOut: 1, tokensTotal: 171, cachedTokens: 163, cost: 172_000n },
    ],
    [
      'tokens that were both read and written',
      {
        prompt_tokens: 2168,
        completion_tokens: 1,
        total_tokens: 2169,
        prompt_tokens_details: { cached_tokens: 2161, cache_write_tokens: 2161 },
      },
      {
        tokensIn: 2168,
        tokensOut: 1,
        cachedTokens: 2161,
        cacheWriteTokens: 2161,
        cost: 2_170_000n,
      },
    ],
  ]

  test.each(credible)('%s are no estimate, and are charged once', async (_, usage, row) => {
    const gateway = await keyedGateway()
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.next(json(completion('Hello', { usage })))
    expect((await gateway.ask(key, prompt())).body['usage']).toEqual(usage)
    expect(await gateway.rows()).toMatchObject([{ ...row, estimated: false }])
  })

  test('counts whose sum is no safe integer are an estimate', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key({ budget_max: 1 })
    const cached_tokens = Number.MAX_SAFE_INTEGER
    const usage = {
      prompt_tokens: 7,
      completion_tokens: 1,
      prompt_tokens_details: { cached_tokens },
    }
    gateway.upstream.next(json(completion('Hello', { usage })))
    await gateway.ask(key, prompt())
    expect(await gateway.rows()).toMatchObject([{ tokensIn: 8, tokensOut: 1, estimated: true }])
  })

  const others = { cost: 0.00012, service_tier: 'default', own: { of: [1] } }

  test('the Responses API keeps the other members of usage', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key()
    const usage = { input_tokens: 7, output_tokens: 0, total_tokens: 7, ...others }
    const item = { type: 'output_text', text: 'Hello' }
    const output = [{ type: 'message', role: 'assistant', content: [item] }]
    const response = { id: 'r', object: 'response', status: 'completed', output, usage }
    const estimated = {
      ...usage,
      output_tokens: 2,
      total_tokens: 9,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 0 },
      estimated: true,
    }
    const asked = { model: 'm', input: 'Hi' }
    gateway.upstream.next(json(response))
    expect((await gateway.ask(key, asked, '/v1/responses')).body['usage']).toEqual(estimated)
    const delta = { type: 'response.output_text.delta', delta: 'Hello' }
    gateway.upstream.next(stream([data(delta) + data({ type: 'response.completed', response })]))
    const sent = { method: 'POST', headers: key.headers }
    const body = JSON.stringify({ ...asked, stream: true })
    const text = await (await gateway.get('/v1/responses', { ...sent, body })).text()
    const last = text.split('data: ').at(-1) ?? ''
    expect(JSON.parse(last)).toMatchObject({ response: { usage: estimated } })
  })

  test('the Messages API keeps the other members of usage', async () => {
    const gateway = await keyedGateway(
      pricedProvider.replace('kind = "openai"', 'kind = "anthropic"'),
    )
    const key = await gateway.key()
    const usage = {
      input_tokens: 7,
      cache_read_input_tokens: 3,
      cache_creation: { ephemeral_1h_input_tokens: 0 },
      output_tokens: 0,
      ...others,
    }
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      content: [{ type: 'text', text: 'Hello' }],
      stop_reason: 'end_turn',
      usage,
    }
    gateway.upstream.next(json(message))
    const { body } = await gateway.ask(key, prompt(8, { max_tokens: 9 }), '/v1/messages')
    expect(body['usage']).toEqual({
      ...usage,
      cache_creation_input_tokens: 0,
      output_tokens: 2,
      estimated: true,
    })
  })

  describe('a Messages API stream', () => {
    const event = (type: string, rest: string) =>
      `event: ${type}\ndata: {"type":"${type}",${rest}}\n\n`
    const begin = (usage: string) =>
      event('message_start', `"message":{"id":"msg_1","usage":${usage}}`) +
      event('content_block_start', '"index":0,"content_block":{"type":"text","text":""}') +
      event('content_block_delta', '"index":0,"delta":{"type":"text_delta","text":"Hello"}') +
      event('content_block_stop', '"index":0')
    const messageStop = event('message_stop', '"own":1')

    /** Returns what a client gets for the end of a stream. */
    async function readEnd(beginning: string, end: string): Promise<string> {
      const gateway = await keyedGateway(
        pricedProvider.replace('kind = "openai"', 'kind = "anthropic"'),
      )
      const key = await gateway.key()
      gateway.upstream.next(stream([beginning + end + messageStop]))
      const body = JSON.stringify(prompt(8, { max_tokens: 9, stream: true }))
      const sent = { method: 'POST', headers: key.headers, body }
      const text = await (await gateway.get('/v1/messages', sent)).text()
      expect(text.startsWith(beginning) && text.endsWith(messageStop)).toBe(true)
      return text.slice(beginning.length, -messageStop.length)
    }

    const delta =
      '"delta":{"stop_reason":"end_turn","stop_sequence":null,"own":12345678901234567890}'
    const own =
      '"cost":1e400,"id":12345678901234567890,"service_tier":"default","nested":{"of":[1.0]}'
    const caches = '"cache_creation_input_tokens":0,"cache_read_input_tokens":0'

    test.each([
      [
        'the output, where the vendor counts 0',
        `{"output_tokens":0,${own}}`,
        `{"output_tokens":2,${own},"input_tokens":7,${caches},"estimated":true}`,
      ],
      [
        'the output, where the vendor does not count it',
        `{${own}}`,
        `{${own},"input_tokens":7,${caches},"output_tokens":2,"estimated":true}`,
      ],
      [
        'the output, where usage is no object',
        'null',
        `{"input_tokens":7,${caches},"output_tokens":2,"estimated":true}`,
      ],
    ])('an estimate of %s keeps all other bytes', async (_, usage, expected) => {
      const begun = begin('{"input_tokens":7,"output_tokens":0}')
      const written = await readEnd(
        begun,
        event('message_delta', `${delta},"usage":${usage},"z":1e400`),
      )
      expect(written).toBe(event('message_delta', `${delta},"usage":${expected},"z":1e400`))
    })

    test('an estimate of the prompt keeps the output and all other bytes', async () => {
      const begun = begin('{"input_tokens":0,"output_tokens":0}')
      const usage = `"input_tokens":0,"output_tokens":5,${own}`
      const written = await readEnd(begun, event('message_delta', `${delta},"usage":{${usage}}`))
      const expected = `"input_tokens":8,"output_tokens":5,${own},${caches},"estimated":true`
      expect(written).toBe(event('message_delta', `${delta},"usage":{${expected}}`))
    })

    test('an event in several lines stays one event', async () => {
      const begun = begin('{"input_tokens":7,"output_tokens":0}')
      const lines = `event: message_delta\ndata: {"type":"message_delta",\ndata: ${delta},\ndata: "usage":{"output_tokens":0}}\n\n`
      const written = await readEnd(begun, lines)
      const counts = `"output_tokens":2,"input_tokens":7,${caches},"estimated":true`
      expect(written).toBe(
        `event: message_delta\ndata: {"type":"message_delta", ${delta}, "usage":{${counts}}}\n\n`,
      )
    })
  })

  test('an empty answer has no output tokens, whether the count is 0 or absent', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key({ budget_max: 1 })
    const counts = { prompt_tokens: 7, completion_tokens: 0 }
    gateway.upstream.next(
      json(completion('', { usage: counts })),
      json(completion('', { usage: { prompt_tokens: 7 } })),
    )
    for (const _ of [1, 2]) await gateway.ask(key, prompt())
    expect(await gateway.rows()).toMatchObject([
      { tokensIn: 7, tokensOut: 0, estimated: false },
      { tokensIn: 7, tokensOut: 0, estimated: false },
    ])
  })

  test('an estimate is charged: 5,000 characters are not free', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key({ budget_max: 1 })
    const usage = { prompt_tokens: 7, completion_tokens: 0, total_tokens: 7 }
    gateway.upstream.next(json(completion('x'.repeat(5_000), { usage })))
    await gateway.ask(key, prompt())
    expect(await readSpend(gateway, key.id)).toBe(0.002507)
  })

  test('a prompt count of 0 for embeddings is replaced by an estimate', async () => {
    const gateway = await keyedGateway(`${pricedProvider}capabilities = ["embed"]\n`)
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.next(vectors([[1]], 0))
    const input = { model: 'm', input: 'x'.repeat(40) }
    const { body } = await gateway.ask(key, input, '/v1/embeddings')
    expect(body['usage']).toEqual({ prompt_tokens: 10, total_tokens: 10, estimated: true })
    expect(await gateway.rows()).toMatchObject([{ cost: 10_000n, estimated: true }])
  })
})

describe('an upstream’s own estimate', () => {
  const usage = { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10, estimated: true }

  test('an upstream’s estimate reaches the client unchanged, and is marked in row and metrics', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key({ budget_max: 1 })
    gateway.upstream.next(json(completion('Hello', { usage })))
    const { body } = await gateway.ask(key, prompt())
    expect(body['usage']).toEqual(usage)
    expect(await gateway.rows()).toMatchObject([{ tokensIn: 7, tokensOut: 3, estimated: true }])
    const metrics = await (await gateway.get('/metrics')).text()
    expect(metrics).toMatch(/gateway_tokens_total\{.*direction="output",estimated="true"\} 3/)
  })

  test('a stream gets no second estimate after it', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key()
    const sent = role + hello + chunk({}, { usage }, 'stop') + done
    gateway.upstream.next(stream([sent]))
    const response = await gateway.chat(streamed(), { headers: key.headers })
    expect(await response.text()).toBe(sent)
    expect(await gateway.rows()).toMatchObject([{ tokensIn: 7, tokensOut: 3, estimated: true }])
  })
})

describe('a stream that breaks off', () => {
  test('usage in an error frame counts', async () => {
    const gateway = await keyedGateway()
    const key = await gateway.key({ budget_max: 1 })
    const usage = { prompt_tokens: 70, completion_tokens: 30, total_tokens: 100 }
    const failure = data({ error: { message: 'too hot' }, usage })
    gateway.upstream.next(stream([role + hello + failure]))
    const response = await gateway.chat(streamed(), { headers: key.headers })
    const text = await response.text()
    expect(text).toContain('LM-3010')
    expect(text).not.toContain('"usage"')
    expect(await gateway.rows()).toMatchObject([
      { status: 502, tokensIn: 70, tokensOut: 30, estimated: false, cost: 130_000n },
    ])
  })

  test('a prompt count that arrived before the failure is kept', async () => {
    const gateway = await keyedGateway(
      pricedProvider.replace('kind = "openai"', 'kind = "anthropic"'),
    )
    const key = await gateway.key({ budget_max: 1 })
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    const usage = { input_tokens: 500, output_tokens: 1 }
    live.push(event({ type: 'message_start', message: { id: 'msg_1', usage } }))
    live.push(event({ type: 'content_block_start', content_block: { type: 'text', text: '' } }))
    live.push(event({ type: 'content_block_delta', delta: { type: 'text_delta', text: 'Hello' } }))
    const response = await gateway.chat(streamed(), { headers: key.headers })
    const reader = new StreamReader(response)
    await reader.next()
    await reader.leave()
    await settled()
    expect(await gateway.rows()).toMatchObject([
      { status: 499, tokensIn: 500, tokensOut: 2, estimated: true },
    ])
  })

  function event(payload: { type: string; [field: string]: unknown }): string {
    return `event: ${payload.type}\ndata: ${JSON.stringify(payload)}\n\n`
  }
})

describe('exact counts', () => {
  const counting = `tokenizer.mode = "accurate"\n${pricedProvider.replace('upstream-m', 'gpt-4o')}`
  const tokenizer: Tokenizer = { count: async (_, texts) => texts.map(() => 100) }

  test.each([
    ['output', { prompt_tokens: 7, completion_tokens: 0 }, { tokensIn: 7, tokensOut: 100 }],
    ['prompt', { prompt_tokens: 0, completion_tokens: 5 }, { tokensIn: 206, tokensOut: 5 }],
  ])(
    'an exact count replaces the estimate of the %s, and never a reported count',
    async (_, usage, row) => {
      const gateway = await keyedGateway(counting, { tokenizer })
      const key = await gateway.key({ budget_max: 1 })
      gateway.upstream.next(json(completion('Hello', { usage })))
      await gateway.ask(key, prompt())
      await settled()
      expect(await gateway.rows()).toMatchObject([
        { ...row, tokensTotal: row.tokensIn + row.tokensOut, estimated: true },
      ])
    },
  )

  test('an exact count does not replace an upstream’s own estimate', async () => {
    const gateway = await keyedGateway(counting, { tokenizer })
    const key = await gateway.key({ budget_max: 1 })
    const usage = { prompt_tokens: 7, completion_tokens: 3, estimated: true }
    gateway.upstream.next(stream([role + hello + stop + makeChunk({ choices: [], usage }) + done]))
    await (await gateway.chat(streamed(), { headers: key.headers })).text()
    await settled()
    expect(await gateway.rows()).toMatchObject([{ tokensIn: 7, tokensOut: 3, estimated: true }])
  })
})
