import { describe, expect, test } from 'vitest'
import { data, done } from '../support/answers.ts'
import type { TestGateway } from '../support/gateway.ts'
import { json, type Responder, stream } from '../support/scripted-upstream.ts'
import { settlement } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/*
 * Upstreams that report an error with status 200 do not always leave the answer out: it is beside the content that
 * the model had written. Such an answer has failed, whatever it holds.
 */

const messages = [{ role: 'user', content: 'Hi' }]
const gemini = { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }

/** The body of a request at each door. */
const doors: Readonly<Record<string, object>> = {
  '/v1/chat/completions': { messages },
  '/v1/completions': { prompt: 'Hi' },
  '/v1/messages': { messages, max_tokens: 64 },
  '/v1/responses': { input: 'Hi' },
  gemini,
}

/** An API of upstreams: a whole answer, and a stream in events, without an error. */
interface Api {
  readonly name: string
  readonly kind: string
  readonly baseUrl?: string
  readonly paths: readonly string[]
  readonly answer: Json
  /** The first event brings the text, and may get the error. */
  readonly events?: readonly Json[]
  readonly end?: string
}

type Json = Readonly<Record<string, unknown>>

const translated = ['/v1/chat/completions', '/v1/messages', '/v1/responses', 'gemini']
const text = 'Partly'
const usage = { prompt_tokens: 9, completion_tokens: 2, total_tokens: 11 }
const own = 'http://up.test/v1'

const claude = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'm-1',
  content: [{ type: 'text', text }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 9, output_tokens: 2 },
}

const candidate = { content: { role: 'model', parts: [{ text }] }, finishReason: 'STOP', index: 0 }
const usageMetadata = { promptTokenCount: 9, candidatesTokenCount: 2, totalTokenCount: 11 }

const apis: readonly Api[] = [
  {
    name: 'chat completions',
    kind: 'openai',
    baseUrl: own,
    paths: translated,
    answer: {
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage,
    },
    events: [
      { choices: [{ index: 0, delta: { content: text }, finish_reason: null }] },
      { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }], usage },
    ],
    end: done,
  },
  {
    name: 'text completions',
    kind: 'openai',
    baseUrl: own,
    paths: ['/v1/completions'],
    answer: { choices: [{ index: 0, text, finish_reason: 'stop' }], usage },
    events: [
      { choices: [{ index: 0, text, finish_reason: null }] },
      { choices: [{ index: 0, text: '', finish_reason: 'stop' }], usage },
    ],
    end: done,
  },
  {
    name: 'Responses',
    kind: 'openai',
    paths: ['/v1/responses'],
    answer: {
      id: 'resp_1',
      status: 'completed',
      output: [
        {
          type: 'message',
          id: 'msg_1',
          role: 'assistant',
          content: [{ type: 'output_text', text, annotations: [] }],
        },
      ],
      usage: { input_tokens: 9, output_tokens: 2, total_tokens: 11 },
    },
    events: [
      { type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, delta: text },
      { type: 'response.completed', response: { id: 'resp_1', status: 'completed', output: [] } },
    ],
  },
  {
    name: 'Messages',
    kind: 'anthropic',
    paths: translated,
    answer: claude,
    events: [
      {
        type: 'message_start',
        message: { ...claude, content: [], stop_reason: null },
      },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn' },
        usage: { output_tokens: 2 },
      },
      { type: 'message_stop' },
    ],
  },
  {
    name: 'Gemini',
    kind: 'google',
    paths: translated,
    answer: { candidates: [candidate], usageMetadata },
    events: [{ candidates: [candidate], usageMetadata }],
  },
  {
    name: 'Cohere',
    kind: 'cohere',
    paths: translated,
    answer: {
      id: 'c',
      finish_reason: 'COMPLETE',
      message: { role: 'assistant', content: [{ type: 'text', text }] },
      usage: { tokens: { input_tokens: 9, output_tokens: 2 } },
    },
    events: [
      { type: 'message-start', id: 'c', delta: { message: { role: 'assistant', content: [] } } },
      { type: 'content-delta', index: 0, delta: { message: { content: { text } } } },
      {
        type: 'message-end',
        delta: {
          finish_reason: 'COMPLETE',
          usage: { tokens: { input_tokens: 9, output_tokens: 2 } },
        },
      },
    ],
  },
  {
    name: 'Converse',
    kind: 'bedrock',
    paths: translated,
    answer: {
      output: { message: { role: 'assistant', content: [{ text }] } },
      stopReason: 'end_turn',
      usage: { inputTokens: 9, outputTokens: 2, totalTokens: 11 },
    },
  },
]

const config = ({ kind, baseUrl }: Api) => `
[resilience]
retry_max_attempts = 1
[[providers]]
name = "p"
kind = "${kind}"
${baseUrl === undefined ? 'api_key_env = "P_KEY"' : `base_url = "${baseUrl}"`}
models = [{ id = "m", upstream_id = "m-1" }]
`
const env = { P_KEY: 'k', AWS_REGION: 'us-east-1' }

function ask({ get }: TestGateway, path: string, isStream: boolean): Promise<Response> {
  const method = isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  const isGemini = path === 'gemini'
  const body = isGemini ? doors[path] : { model: 'm', stream: isStream, ...doors[path] }
  return get(isGemini ? `/v1beta/models/m:${method}` : path, {
    method: 'POST',
    body: JSON.stringify(body),
  })
}

/** Reads what comes before the end. Streams of the Gemini API are cut after an error. */
async function readAll({ body }: Response): Promise<string> {
  let read = ''
  try {
    for await (const chunk of body ?? []) read += new TextDecoder().decode(chunk)
  } catch {
    // The cut.
  }
  return read
}

const words = 'the GPU is on fire'
const errors: readonly (readonly [name: string, error: unknown])[] = [
  ['an object', { message: words, code: 503 }],
  ['an object without a code', { message: words, code: null }],
  ['an object with a code in words', { message: words, code: 'server_error', type: 'x' }],
  ['a text', words],
]
/** What upstreams write where nothing has failed. */
const blanks: readonly unknown[] = [
  null,
  '',
  false,
  {},
  { code: 0, message: '' },
  { code: 200, message: 'success' },
]

const cases = apis.flatMap((api) => api.paths.map((path) => ({ name: api.name, path, api })))

describe.each(cases)('$name for $path', ({ path, api }) => {
  test.each(errors)('an error that is %s fails a whole answer', async (_, error) => {
    for (const isStream of [false, true]) {
      const gateway = await watchedGateway(config(api), { env })
      gateway.upstream.next(json({ ...api.answer, error }))
      const response = await ask(gateway, path, isStream)
      expect(response.status).toBe(502)
      const got = await response.text()
      expect(got).toContain(words)
      expect(got).not.toContain(text)
      expect(settlement(gateway.log)).toMatchObject({ status: 502, tokens_in: 9, tokens_out: 2 })
    }
  })

  test.each(blanks)('an error %j is none', async (error) => {
    const responders: Responder[] = [json({ ...api.answer, error })]
    if (api.events)
      responders.push(
        stream(
          toStream(
            api,
            api.events.map((event) => ({ ...event, error })),
          ),
        ),
      )
    for (const [at, responder] of responders.entries()) {
      const gateway = await watchedGateway(config(api), { env })
      gateway.upstream.next(responder)
      const response = await ask(gateway, path, at > 0)
      expect(response.status).toBe(200)
      const got = await response.text()
      expect(got).toContain(text)
      expect(settlement(gateway.log)).toMatchObject({ status: 200 })
      expect(settlement(gateway.log)?.['error_code']).toBeUndefined()
    }
  })
})

function toStream({ end = '' }: Api, events: readonly Json[]): string[] {
  return [...events.map((event) => data(event)), end]
}

const streamed = cases.filter(({ api }) => api.events)

describe.each(streamed)('a stream of $name for $path', ({ path, api }) => {
  test.each(errors)('an error that is %s fails each event', async (_, error) => {
    const events = api.events ?? []
    for (const at of events.keys()) {
      const gateway = await watchedGateway(config(api), { env })
      const failing = events.map((event, index) => (index === at ? { ...event, error } : event))
      gateway.upstream.next(stream(toStream(api, failing)))
      const response = await ask(gateway, path, true)
      const got = await readAll(response)
      expect(got, `event ${at}`).toContain(words)
      expect(got).not.toContain('[DONE]')
      const { status } = response
      const hasContent = JSON.stringify(events.slice(0, at)).includes(text)
      expect(status, `event ${at}`).toBe(hasContent ? 200 : 502)
    }
  })
})

const choiceCases = cases.filter(({ name }) => name.endsWith('completions'))

describe.each(choiceCases)('an error inside of a choice, $name for $path', ({ path, api }) => {
  const inChoice = (body: Json, error: unknown): Json => {
    const [choice] = body['choices'] as readonly [Json]
    return { ...body, choices: [{ ...choice, error }] }
  }

  test.each(errors)('that is %s', async (_, error) => {
    for (const isStream of [false, true]) {
      const gateway = await watchedGateway(config(api), { env })
      gateway.upstream.next(json(inChoice(api.answer, error)))
      const response = await ask(gateway, path, isStream)
      expect(response.status).toBe(502)
      expect(await response.text()).toContain(words)
    }
    const events = api.events ?? []
    for (const at of events.keys()) {
      const gateway = await watchedGateway(config(api), { env })
      const failing = events.map((event, index) => (index === at ? inChoice(event, error) : event))
      gateway.upstream.next(stream(toStream(api, failing)))
      const response = await ask(gateway, path, true)
      expect(await readAll(response)).toContain(words)
      expect(response.status).toBe(at === 0 ? 502 : 200)
    }
  })

  test.each(blanks)('that is %j is none', async (error) => {
    const gateway = await watchedGateway(config(api), { env })
    gateway.upstream.next(json(inChoice(api.answer, error)))
    expect((await ask(gateway, path, false)).status).toBe(200)
  })
})
