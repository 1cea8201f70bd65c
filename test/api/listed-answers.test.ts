import { describe, expect, test } from 'vitest'
import { type TestGateway } from '../support/gateway.ts'
import { keyedGateway } from '../support/keyed-gateway.ts'
import { json, type Responder, whole } from '../support/scripted-upstream.ts'
import { settlement } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/*
 * Gemini answers a stream without `alt=sse` by one JSON list of its events. Proxies that drop the query of an address
 * pass such a list on, for streamed requests and for others.
 */

const settings = {
  google: 'kind = "google"',
  vertex_ai: `kind = "vertex_ai"
base_url = "https://us-central1-aiplatform.googleapis.com/v1/projects/p/locations/us-central1"`,
}

const configOf = (kind: keyof typeof settings) => `
[resilience]
retry_max_attempts = 1
[[providers]]
name = "p"
${settings[kind]}
api_key_env = "P_KEY"
models = [{ id = "m", upstream_id = "gemini-3.5-pro", cost_per_1m_input = 1, cost_per_1m_output = 2 }]
`
const env = { P_KEY: 'k' }

interface Door {
  readonly name: string
  readonly path: string
  readonly streamPath?: string
  readonly body: object
}

const messages = [{ role: 'user', content: 'Hi' }]
const contents = [{ role: 'user', parts: [{ text: 'Hi' }] }]
const chat: Door = { name: 'chat', path: '/v1/chat/completions', body: { messages } }
const gemini: Door = {
  name: 'gemini',
  path: '/v1beta/models/m:generateContent',
  streamPath: '/v1beta/models/m:streamGenerateContent?alt=sse',
  body: { contents },
}
const geminiArray: Door = {
  ...gemini,
  name: 'gemini, as an array',
  streamPath: '/v1beta/models/m:streamGenerateContent',
}
const doors: readonly Door[] = [
  chat,
  { name: 'messages', path: '/v1/messages', body: { messages, max_tokens: 64 } },
  { name: 'responses', path: '/v1/responses', body: { input: 'Hi' } },
  gemini,
  geminiArray,
]

function ask(
  { get }: TestGateway,
  { path, streamPath, body }: Door,
  { isStream, headers = {} }: { readonly isStream: boolean; readonly headers?: HeadersInit },
): Promise<Response> {
  const isNative = streamPath !== undefined
  const text = JSON.stringify(isNative ? body : { model: 'm', stream: isStream, ...body })
  return get(isStream ? (streamPath ?? path) : path, { method: 'POST', body: text, headers })
}

async function answerOf(
  door: Door,
  answer: Responder,
  { isStream = true, kind = 'google' as keyof typeof settings } = {},
) {
  const gateway = await watchedGateway(configOf(kind), { env })
  gateway.upstream.next(answer)
  const response = await ask(gateway, door, { isStream })
  const text = await response.text()
  return { gateway, response, text, settled: settlement(gateway.log) }
}

const chunk = (parts: string, more = '') =>
  `{"candidates":[{"content":{"parts":[${parts}],"role":"model"}${more},"index":0}],"responseId":"r","n":1.50}`
const counts = (completion: number) =>
  `"usageMetadata":{"promptTokenCount":5,"candidatesTokenCount":${completion},"totalTokenCount":${5 + completion}}`
const chunks = [
  chunk('{"text":"Hel"}'),
  chunk('{"text":"lo "}').replace('"n"', `${counts(1)},"n"`),
  chunk('{"text":"\\ud83e\\udd86"}', ',"finishReason":"MAX_TOKENS"').replace(
    '"n"',
    `${counts(3)},"n"`,
  ),
]
const list = whole(`[${chunks.join(',\r\n')}\n]`)

describe.each(Object.keys(settings) as (keyof typeof settings)[])('a list of %s', (kind) => {
  test.each(doors)('in place of a stream is that stream ($name)', async (door) => {
    const { gateway, response, text, settled } = await answerOf(door, list, { kind })
    expect(response.status).toBe(200)
    for (const piece of ['Hel', 'lo ', '🦆']) {
      expect(text.replace('\\ud83e\\udd86', '🦆')).toContain(`"${piece}"`)
    }
    expect(text).toMatch(/MAX_TOKENS|"length"|"max_tokens"|"max_output_tokens"/)
    expect(settled).toMatchObject({ status: 200, tokens_in: 5, tokens_out: 3 })
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test.each(doors)('in place of an answer is that answer ($name)', async (door) => {
    const { response, text, settled } = await answerOf(door, list, { isStream: false, kind })
    expect(response.status).toBe(200)
    expect(text).toContain('"Hello 🦆"')
    expect(text).toMatch(/MAX_TOKENS|"length"|"max_tokens"|"max_output_tokens"/)
    expect(settled).toMatchObject({ status: 200, tokens_in: 5, tokens_out: 3 })
  })
})

test('the events of a list have the bytes of the vendor on a link of the same API', async () => {
  const events = chunks.map((each) => `data: ${each}\n\n`).join('')
  expect((await answerOf(gemini, list)).text).toBe(events)
  expect((await answerOf(geminiArray, list)).text).toBe(`[${chunks.join(',\r\n')}\n]`)
})

test('a whole answer in place of a stream is its only event there', async () => {
  const only = `{\n "candidates": [{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}],\n ${counts(2)}}`
  const line = only.replaceAll('\n', ' ')
  const asEvents = await answerOf(gemini, whole(only))
  expect(asEvents.text).toBe(`data: ${line}\n\n`)
  expect(asEvents.settled).toMatchObject({ status: 200, tokens_in: 5, tokens_out: 2 })
  expect((await answerOf(geminiArray, whole(only))).text).toBe(`[${line}\n]`)
})

test('a list with one event is that event, byte for byte', async () => {
  const only = `{ ${counts(2)}, "candidates":[{"content":{"parts":[{"text":"a"},{"text":"b"}]},"finishReason":"STOP"}] }`
  const { text } = await answerOf(gemini, whole(`[${only}]`), { isStream: false })
  expect(text).toBe(only)
})

test('what a list costs is charged', async () => {
  const gateway = await keyedGateway(configOf('google'))
  const { headers } = await gateway.key()
  gateway.upstream.always(list)
  for (const door of doors) {
    for (const isStream of [true, false])
      await (await ask(gateway, door, { isStream, headers })).text()
  }
  const costs = (await gateway.rows()).map(({ cost }) => cost)
  // 5 tokens of the prompt at 1 USD per million, 3 of the answer at 2.
  expect(costs).toEqual(costs.map(() => 11_000n))
  expect(costs).toHaveLength(2 * doors.length)
})

const huge = '12345678901234567890'

describe('the events of a list make an answer', () => {
  const join = async (...given: readonly string[]) => {
    const { response, text } = await answerOf(gemini, whole(`[${given}]`), { isStream: false })
    expect(response.status, text).toBe(200)
    return text
  }
  const stop = chunk('', ',"finishReason":"STOP"')
  const partsOf = (text: string) => JSON.parse(text).candidates[0].content.parts

  test('with the numbers of calls, and the marks of thoughts', async () => {
    const text = await join(
      chunk('{"text":"H","thought":true}'),
      chunk('{"text":"m","thought":true}'),
      chunk('{"text":"A"},{"text":"B","thoughtSignature":"c2ln"}'),
      chunk(`{"functionCall":{"name":"f","args":{ "id": ${huge} }}}`),
      stop,
    )
    expect(text).toContain(`"args":{ "id": ${huge} }`)
    expect(partsOf(text)).toMatchObject([
      { text: 'Hm', thought: true },
      { text: 'A' },
      { text: 'B', thoughtSignature: 'c2ln' },
      { functionCall: { name: 'f' } },
    ])
  })

  test('with a call whose arguments came in pieces', async () => {
    const text = await join(
      chunk(
        '{"functionCall":{"id":"c","name":"f","partialArgs":[{"jsonPath":"$.a","stringValue":"x"}],"willContinue":true}}',
      ),
      chunk(
        `{"functionCall":{"partialArgs":[{"jsonPath":"$.a","stringValue":"y"},{"jsonPath":"$.n","numberValue":${huge}}],"willContinue":true}}`,
      ),
      chunk('{"functionCall":{}}'),
      chunk('{"text":"done"}'),
      stop,
    )
    expect(text).toContain(
      `{"functionCall":{"id":"c","name":"f","args":{"a":"xy","n":${huge}}}},{"text":"done"}`,
    )
  })

  test('with all candidates, log probabilities and counts', async () => {
    const of = (index: number, text: string, more = {}) => ({
      index,
      content: { parts: [{ text }] },
      logprobsResult: { chosenCandidates: [{ token: text, logProbability: -1 }] },
      ...more,
    })
    const text = await join(
      JSON.stringify({ candidates: [of(1, 'b')], usageMetadata: { promptTokenCount: 5 } }),
      JSON.stringify({
        candidates: [of(0, 'a', { finishReason: 'STOP' })],
        usageMetadata: { candidatesTokenCount: 2 },
      }),
      JSON.stringify({ candidates: [of(1, 'c', { finishReason: 'SAFETY' })] }),
      JSON.stringify({ candidates: [{ index: 1, finishReason: 'FINISH_REASON_UNSPECIFIED' }] }),
    )
    const answer = JSON.parse(text)
    expect(answer.usageMetadata).toEqual({ promptTokenCount: 5, candidatesTokenCount: 2 })
    expect(answer.candidates).toMatchObject([
      {
        index: 1,
        content: { parts: [{ text: 'bc' }] },
        finishReason: 'SAFETY',
        logprobsResult: { chosenCandidates: [{ token: 'b' }, { token: 'c' }] },
      },
      { index: 0, content: { parts: [{ text: 'a' }] }, finishReason: 'STOP' },
    ])
  })

  test('with the sources of all, to which the supports refer', async () => {
    const source = (uri: string) => ({ web: { uri, title: uri } })
    const support = (text: string, ...groundingChunkIndices: number[]) => ({
      segment: { text },
      groundingChunkIndices,
    })
    const grounding = (groundingMetadata: object) =>
      JSON.stringify({ candidates: [{ index: 0, groundingMetadata }] })
    const [a, b, c] = ['https://a.test', 'https://b.test', 'https://c.test'].map(source)
    const text = await join(
      grounding({ groundingChunks: [a, b], groundingSupports: [support('x', 1)] }),
      grounding({ groundingChunks: [c, a], groundingSupports: [support('y', 0, 1)] }),
      grounding({ groundingSupports: [support('z', 0)], webSearchQueries: ['q'] }),
      chunk('{"text":"xyz"}', ',"citationMetadata":{"citationSources":[{"uri":"u"}]}'),
      stop,
    )
    expect(JSON.parse(text).candidates[0]).toMatchObject({
      groundingMetadata: {
        groundingChunks: [a, b, c],
        groundingSupports: [support('x', 1), support('y', 2, 0), support('z', 2)],
        webSearchQueries: ['q'],
      },
      citationMetadata: { citationSources: [{ uri: 'u' }] },
    })
  })
})

describe('an error in a list', () => {
  const failed = { error: { code: 429, message: 'slow down', status: 'RESOURCE_EXHAUSTED' } }

  describe.each([true, false])('(streamed: %s)', (isStream) => {
    test.each(doors)('is that error ($name)', async (door) => {
      const { response, text, settled } = await answerOf(door, json([failed]), { isStream })
      expect(response.status).toBe(429)
      expect(text).toContain('slow down')
      expect(settled).toMatchObject({ status: 429, error_code: 'LM-3001' })
    })

    test.each(doors)('behind content fails the answer, with its counts ($name)', async (door) => {
      const answer = whole(`[${chunks[1]},${JSON.stringify(failed)}]`)
      const { response, text, settled } = await answerOf(door, answer, { isStream })
      expect(response.status).toBe(429)
      expect(text).toContain('slow down')
      expect(settled).toMatchObject({ status: 429, tokens_in: 5, tokens_out: 1 })
    })
  })
})

describe.each([true, false])('a list (streamed: %s)', (isStream) => {
  test.each([
    ['that is empty', '[]'],
    ['of other values', '[1]'],
    ['of another API', '[{"choices":[]}]'],
    ['with an event of another shape', `[${chunks[0]},{"candidates":[{"content":"x"}]}]`],
    [
      'with an event of more than 50,000 values',
      `[${chunks[0]},${chunk(Array.from({ length: 26_000 }, () => '{"text":"x"}').join())}]`,
    ],
    ['that is not JSON', `[${chunks[0]},`],
  ])('%s is malformed', async (_, body) => {
    for (const door of [chat, gemini, geminiArray]) {
      const { response, settled } = await answerOf(door, whole(body), { isStream })
      expect(response.status).toBe(502)
      expect(settled).toMatchObject({ status: 502, error_code: 'LM-3002' })
    }
  })

  test('may be longer than an event', async () => {
    const many = Array.from({ length: 6000 }, (_, at) =>
      chunk(`{"text":"${at} "}`).replace('"n"', `${counts(at)},"n"`),
    )
    for (const door of [chat, gemini, geminiArray]) {
      const answer = whole(`[${[...many, chunks[2]].join(',\n')}]`)
      const { response, text, settled } = await answerOf(door, answer, { isStream })
      expect(response.status, text.slice(0, 300)).toBe(200)
      expect(text).toContain(isStream ? '"5999 "' : '5998 5999 🦆')
      expect(settled).toMatchObject({ status: 200, tokens_in: 5, tokens_out: 3 })
    }
  })
})

test.each([chat, gemini, geminiArray])(
  'a list without the end of the answer is a stream that closed early ($name)',
  async (door) => {
    const gateway = await watchedGateway(configOf('google'), { env })
    gateway.upstream.next(whole(`[${chunks[0]}]`))
    const response = await ask(gateway, door, { isStream: true })
    const text = await response.text().catch(String)
    expect(text).toContain(door === chat ? 'Hel' : 'the stream has failed')
    expect(settlement(gateway.log)).toMatchObject({ error_code: 'LM-3010' })
  },
)
