import { describe, expect, test } from 'vitest'
import { readError } from '../../support/gateway.ts'
import { type Responder, stream } from '../../support/scripted-upstream.ts'
import {
  answered,
  asking,
  counts,
  end,
  event,
  failing,
  googleGateway,
  patiently,
  payloads,
} from './support.ts'

interface Chunk {
  readonly id: string
  readonly choices: readonly {
    readonly index: number
    readonly delta: Record<string, unknown>
    readonly finish_reason: string | null
    readonly logprobs?: unknown
  }[]
  readonly usage?: object
}

/** The client's frames for an upstream stream. */
async function heard(upstreamStream: Responder, fields: object = {}): Promise<unknown[]> {
  const { chat, upstream } = await googleGateway()
  upstream.next(upstreamStream)
  const response = await chat(asking({ stream: true, ...fields }))
  expect(response.status).toBe(200)
  return payloads(response)
}

/** The client's chunks for a complete upstream stream. */
async function chunksOf(...events: string[]): Promise<Chunk[]> {
  const frames = await heard(stream(events))
  expect(frames.at(-1)).toBe('[DONE]')
  return frames.slice(0, -1) as Chunk[]
}

/** The chunks of the answer: all but the one with the usage. */
const deltas = (chunks: readonly Chunk[]) =>
  chunks.flatMap(({ choices, usage }) => (usage ? [] : [choices[0]?.delta]))
const finishes = (chunks: readonly Chunk[]) =>
  chunks.flatMap(({ choices }) => choices.flatMap(({ finish_reason }) => finish_reason ?? []))

const say = (text: string, candidate: object = {}) => event(answered([{ text }], candidate))
const call = event(answered([{ functionCall: { name: 'f', args: { a: 1 } } }]))
const stop = { finishReason: 'STOP' }
const broken = { failure: { kind: 'network', reason: 'ECONNRESET' } } as const

describe('the content of a stream', () => {
  test('thoughts, text and images have separate deltas', async () => {
    const chunks = await chunksOf(
      event(answered([{ text: 'Hm', thought: true }, { text: '' }, { thoughtSignature: 'YQ==' }])),
      event(answered([{ text: 'A' }, { inlineData: { mimeType: 'image/png', data: 'iVBO' } }])),
      end,
    )
    expect(deltas(chunks)).toEqual([
      { role: 'assistant', content: '' },
      { reasoning_content: 'Hm' },
      { content: 'A' },
      {
        images: [{ index: 0, type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } }],
      },
      { extra_content: { google: { thought_signature: 'YQ==' } } },
      {
        provider_content: {
          family: 'google',
          content: [
            { text: 'Hm', thought: true },
            { thoughtSignature: 'YQ==' },
            { text: 'A' },
            { inlineData: { mimeType: 'image/png', data: 'iVBO' } },
          ],
        },
      },
      {},
    ])
  })

  test('the signature of a text is sent once, in the last delta', async () => {
    const chunks = await chunksOf(
      event(answered([{ text: 'A', thoughtSignature: 'YQ==' }])),
      event(answered([{ text: '', thoughtSignature: 'Yg==' }])),
      end,
    )
    expect(deltas(chunks).slice(1)).toEqual([
      { content: 'A' },
      { extra_content: { google: { thought_signature: 'Yg==' } } },
      {
        provider_content: {
          family: 'google',
          content: [
            { text: 'A', thoughtSignature: 'YQ==' },
            { text: '', thoughtSignature: 'Yg==' },
          ],
        },
      },
      {},
    ])
  })

  test('a draft image in the thoughts is not an image of the answer', async () => {
    const inlineData = { mimeType: 'image/png', data: 'iVBO' }
    const chunks = await chunksOf(event(answered([{ inlineData, thought: true }])), say('A'), end)
    expect(deltas(chunks)).toEqual([{ role: 'assistant', content: '' }, { content: 'A' }, {}])
  })

  test('the first audio delta has the metadata, the others only bytes', async () => {
    const sound = (data: string) =>
      event(answered([{ inlineData: { mimeType: 'audio/L16', data } }]))
    const chunks = await chunksOf(sound('AAE='), sound('AgM='), end)
    expect(deltas(chunks).slice(1)).toEqual([
      { audio: expect.objectContaining({ mime_type: 'audio/L16', data: 'AAE=' }) },
      { audio: { data: 'AgM=' } },
      {},
    ])
  })

  test('a reason without a counterpart is sent beside the finish reason', async () => {
    const chunks = await chunksOf(
      event({ candidates: [{ finishReason: 'OTHER', finishMessage: 'why' }] }),
    )
    const finish = chunks.find(({ choices }) => choices[0]?.finish_reason)
    expect(finish?.choices[0]).toMatchObject({
      finish_reason: 'stop',
      native_finish_reason: 'OTHER',
      native_finish_message: 'why',
    })
  })

  test('the message of a blocked prompt becomes the refusal', async () => {
    const promptFeedback = { blockReason: 'SAFETY', blockReasonMessage: 'Not this.' }
    const chunks = await chunksOf(event({ promptFeedback }))
    expect(deltas(chunks)).toContainEqual({ refusal: 'Not this.' })
    expect(finishes(chunks)).toEqual(['content_filter'])
  })

  test('streamed arguments become one call', async () => {
    const piece = (functionCall: object) => event(answered([{ functionCall }]))
    const part = (jsonPath: string, value: object, willContinue = false) =>
      piece({ partialArgs: [{ jsonPath, ...value, willContinue }], willContinue: true })
    const chunks = await chunksOf(
      piece({ name: 'f', willContinue: true }),
      part('$.city', { stringValue: 'Os' }, true),
      part('$.city', { stringValue: 'lo' }),
      part("$.days[0]['a b']", { numberValue: 2 }),
      part('$.days[1]', { boolValue: true }),
      part('$.days[999999999]', { boolValue: true }),
      part('$.none', { nullValue: 'NULL_VALUE' }),
      part('$.__proto__.x', { stringValue: 'y' }),
      piece({}),
      call,
      end,
    )
    const calls = deltas(chunks).flatMap((delta) => (delta?.['tool_calls'] ?? []) as object[])
    expect(calls).toMatchObject([
      { index: 0, function: { name: 'f', arguments: '' } },
      {
        index: 0,
        function: {
          arguments: '{"city":"Oslo","days":[{"a b":2},true],"none":null,"__proto__":{"x":"y"}}',
        },
      },
      { index: 1, function: { name: 'f' } },
      { index: 1, function: { arguments: '{"a":1}' } },
    ])
  })

  test.each(['12345678901234567890', '1.0', '1e400', '-0', '"NaN"'])(
    'the number %s in streamed arguments reaches the client unchanged',
    async (written) => {
      const piece = (functionCall: object) => event(answered([{ functionCall }]))
      const partialArgs = [
        { jsonPath: '$.before', stringValue: 'x' },
        { jsonPath: '$.id', numberValue: 7e7 },
        { jsonPath: '$.id.text', stringValue: 'no place' },
      ]
      const chunks = await chunksOf(
        piece({ name: 'f', partialArgs, willContinue: true }).replace('70000000', written),
        piece({}),
        end,
      )
      const [, last] = deltas(chunks).flatMap((delta) => (delta?.['tool_calls'] ?? []) as object[])
      expect(last).toMatchObject({ function: { arguments: `{"before":"x","id":${written}}` } })
    },
  )

  test('calls are numbered across the whole stream', async () => {
    const chunks = await chunksOf(call, call, end)
    const calls = deltas(chunks).flatMap((delta) => (delta?.['tool_calls'] ?? []) as object[])
    expect(calls).toMatchObject([
      { index: 0, id: expect.stringMatching(/^call_/), function: { name: 'f', arguments: '' } },
      { index: 0, function: { arguments: '{"a":1}' } },
      { index: 1, id: expect.stringMatching(/^call_/), function: { name: 'f', arguments: '' } },
      { index: 1, function: { arguments: '{"a":1}' } },
    ])
    expect(calls[1]).toEqual({ index: 0, function: { arguments: '{"a":1}' } })
    expect(finishes(chunks)).toEqual(['tool_calls'])
  })

  test('log probabilities are sent beside their text', async () => {
    const logprobsResult = { chosenCandidates: [{ token: 'A', logProbability: -1 }] }
    const parts = [{ text: 'A' }, { text: 'B' }]
    const chunks = await chunksOf(event(answered(parts, { logprobsResult })), end)
    expect(chunks[1]?.choices[0]?.logprobs).toEqual({
      content: [{ token: 'A', logprob: -1, bytes: [65], top_logprobs: [] }],
      refusal: null,
    })
    expect(chunks[2]?.choices[0]).not.toHaveProperty('logprobs')
  })

  test('every chunk has the first responseId', async () => {
    const other = event({
      candidates: [{ content: { parts: [{ text: 'B' }] } }],
      responseId: 'r-2',
    })
    const chunks = await chunksOf(say('A'), other, end)
    expect(new Set(chunks.map(({ id }) => id))).toEqual(new Set(['r-1']))
  })

  test('the responseId may arrive before the first text', async () => {
    const chunks = await chunksOf(
      event({ responseId: 'r-0' }),
      event({ candidates: [{ content: { parts: [{ text: 'A' }] } }] }),
      end,
    )
    expect(new Set(chunks.map(({ id }) => id))).toEqual(new Set(['r-0']))
  })

  test('a stream without a responseId gets one new id', async () => {
    const text = (part: string) => event({ candidates: [{ content: { parts: [{ text: part }] } }] })
    const chunks = await chunksOf(text('A'), text('B'), event({ candidates: [stop] }))
    expect(chunks[0]?.id).toMatch(/^chatcmpl-/)
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
  })
})

describe('the end', () => {
  test('a call after the finish reason changes it to tool_calls', async () => {
    expect(finishes(await chunksOf(say('A', stop), call))).toEqual(['tool_calls'])
  })

  test('MAX_TOKENS stays length even with calls', async () => {
    const limit = event(answered([], { finishReason: 'MAX_TOKENS' }))
    expect(finishes(await chunksOf(call, limit))).toEqual(['length'])
  })

  test('an unspecified finish reason does not complete the stream', async () => {
    const unspecified = say('A', { finishReason: 'FINISH_REASON_UNSPECIFIED' })
    expect((await heard(stream([unspecified]))).at(-1)).toMatchObject({
      error: { code: 'LM-3010' },
    })
  })

  test('a prompt that is blocked in the middle of a stream ends it with content_filter', async () => {
    const blocked = event({ promptFeedback: { blockReason: 'SAFETY' } })
    expect(finishes(await chunksOf(say('A'), blocked))).toEqual(['content_filter'])
  })

  test.each([
    [0, 1],
    [1, 0],
  ])('the finish of candidate %d of two does not complete the stream', async (ended, open) => {
    const frames = await heard(
      stream([say('A', { ...stop, index: ended }), say('B', { index: open })]),
    )
    expect(frames.at(-1)).toMatchObject({ error: { code: 'LM-3010' } })
  })

  test('candidates finish in order, followed by the usage', async () => {
    const chunks = await chunksOf(
      say('B', { ...stop, index: 1 }),
      say('A', { ...stop, index: 0 }),
      event({ usageMetadata: counts }),
    )
    expect(chunks.slice(4)).toMatchObject([
      { choices: [{ index: 0, finish_reason: 'stop' }] },
      { choices: [{ index: 1, finish_reason: 'stop' }] },
      { choices: [{ index: 0, finish_reason: null }], usage: { total_tokens: 5 } },
    ])
    expect(chunks.filter(({ usage }) => usage)).toHaveLength(1)
  })

  test('the last event may lack its blank line', async () => {
    expect(finishes(await chunksOf(say('A'), end.trimEnd()))).toEqual(['stop'])
  })

  test('a connection that breaks after the answer is complete ends the stream normally', async () => {
    const frames = await heard(stream([say('A'), end], broken))
    expect(frames.at(-1)).toBe('[DONE]')
  })

  test('a connection that breaks before the answer is complete ends in a terminal frame', async () => {
    const frames = await heard(stream([say('A')], broken))
    expect(frames.at(-1)).toMatchObject({ error: { code: 'LM-3010' } })
  })

  test('an error after the answer is complete ends the stream normally', async () => {
    const frames = await heard(stream([say('A'), end, event(failing(503, 'UNAVAILABLE'))]))
    expect(frames.at(-1)).toBe('[DONE]')
  })

  test('the [DONE] of a proxy ends the stream once', async () => {
    const frames = await heard(stream([say('A'), end, 'data: [DONE]\n\n', say('B')]))
    expect(frames.filter((frame) => frame === '[DONE]')).toHaveLength(1)
    expect(JSON.stringify(frames)).not.toContain('"B"')
  })

  test('the [DONE] of a proxy does not complete an incomplete answer', async () => {
    const frames = await heard(stream([say('A'), 'data: [DONE]\n\n']))
    expect(frames.at(-1)).toMatchObject({ error: { code: 'LM-3010' } })
  })
})

describe('the usage of a stream', () => {
  const counting = (usageMetadata: unknown, text = 'A') =>
    event({ ...answered([{ text }]), usageMetadata })

  test('the usage is the last count of each field, not a sum', async () => {
    const chunks = await chunksOf(
      counting({ promptTokenCount: 9, thoughtsTokenCount: 4, totalTokenCount: 13 }),
      counting({ promptTokenCount: 9, candidatesTokenCount: 1, totalTokenCount: 14 }),
      event({
        ...answered([], stop),
        usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 16 },
      }),
    )
    expect(chunks.filter(({ usage }) => usage)).toHaveLength(1)
    expect(chunks.at(-1)?.usage).toEqual({
      prompt_tokens: 9,
      completion_tokens: 7,
      total_tokens: 16,
      completion_tokens_details: { reasoning_tokens: 4 },
    })
  })

  test('the usage may arrive after the finish reason', async () => {
    const chunks = await chunksOf(say('A', stop), event({ usageMetadata: counts }))
    expect(chunks.at(-1)?.usage).toEqual({
      prompt_tokens: 2,
      completion_tokens: 3,
      total_tokens: 5,
    })
  })

  test.each([[undefined], [{ trafficType: 'ON_DEMAND' }], [{ ...counts, totalTokenCount: -1 }]])(
    'an invalid usage of %j is estimated',
    async (usageMetadata) => {
      const last = event({ ...answered([], stop), usageMetadata })
      const chunks = await chunksOf(say('Hello there'), last)
      expect(chunks.flatMap(({ usage }) => usage ?? [])).toEqual([
        expect.objectContaining({ estimated: true }),
      ])
    },
  )
})

describe('errors of a stream', () => {
  test.each<[string, string]>([
    ['an event', event(failing(503, 'UNAVAILABLE'))],
    ['a list in an event', event([failing(503, 'UNAVAILABLE')])],
    ['bare JSON', JSON.stringify(failing(503, 'UNAVAILABLE'), null, 2)],
    ['a bare list', `${JSON.stringify([failing(503, 'UNAVAILABLE')])}\n\n`],
    ['a status by name', event({ error: { status: 'UNAVAILABLE', message: 'no' } })],
    ['an error without a name', event({ error: { message: 'no' } })],
    ['text that is not JSON', 'data: {"candidates":\n\n'],
    ['JSON of another shape', event({ candidates: 'A' })],
    ['a role alone', event({ ...answered([]), usageMetadata: counts })],
  ])('%s before content is retried', async (_, first) => {
    const gateway = await googleGateway()
    gateway.upstream.next(stream([first]), stream([say('A'), end]))
    const response = await patiently(gateway, gateway.chat(asking({ stream: true })))
    expect((await payloads(response)).at(-1)).toBe('[DONE]')
    expect(gateway.upstream.requests).toHaveLength(2)
  })

  test.each([
    [failing(400, 'INVALID_ARGUMENT'), 400, 'LM-3003', 1],
    [{ error: { status: 'NOT_FOUND', message: 'no' } }, 404, 'LM-3003', 1],
    [failing(403, 'PERMISSION_DENIED'), 502, 'LM-3003', 1],
    [{ error: { code: 429, message: 'no' } }, 429, 'LM-3001', 3],
    [failing(429, 'RESOURCE_EXHAUSTED'), 429, 'LM-3001', 3],
    [failing(500, 'INTERNAL'), 502, 'LM-3003', 3],
  ])('%j before content is handled by its status', async (error, status, code, calls) => {
    const gateway = await googleGateway()
    gateway.upstream.always(stream([event(error)]))
    const response = await patiently(gateway, gateway.chat(asking({ stream: true })))
    expect(response.status).toBe(status)
    expect((await readError(response))['code']).toBe(code)
    expect(gateway.upstream.requests).toHaveLength(calls)
  })

  test('an error as bare JSON is handled by its status', async () => {
    const { chat, upstream } = await googleGateway()
    upstream.next(stream([JSON.stringify([failing(400, 'INVALID_ARGUMENT')], null, 2)]))
    expect((await chat(asking({ stream: true }))).status).toBe(400)
  })

  test.each<[string, string]>([
    ['an error', event(failing(400, 'INVALID_ARGUMENT'))],
    ['text that is not JSON', 'data: oops\n\n'],
  ])('%s after content ends the stream with a terminal frame', async (_, last) => {
    const frames = await heard(stream([say('A'), last, say('B')]))
    expect(frames).toHaveLength(3)
    expect(frames.at(-1)).toMatchObject({ error: { code: 'LM-3010' } })
  })

  test('comments and events without data are skipped', async () => {
    const chunks = await chunksOf(': hello\n\n', 'event: ping\n\n', say('A'), 'data:\n\n', end)
    expect(deltas(chunks)).toEqual([{ role: 'assistant', content: '' }, { content: 'A' }, {}])
  })
})

test('a finish reason alone commits the stream before its body ends', async () => {
  const { chat, upstream } = await googleGateway()
  upstream.next(stream([event({ candidates: [{ finishReason: 'SAFETY' }] })], broken))
  const frames = await payloads(await chat(asking({ stream: true })))
  expect(frames.at(-1)).toBe('[DONE]')
  expect(upstream.requests).toHaveLength(1)
})
