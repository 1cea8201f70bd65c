import { describe, expect, test } from 'vitest'
import { completion, data, done, hello, makeChunk, role, usage } from '../support/answers.ts'
import type { TestGateway } from '../support/gateway.ts'
import { json, type Responder, stream, whole } from '../support/scripted-upstream.ts'
import { settlement } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/* Errors that upstreams send with status 200, and streamed requests that they answer with JSON. */

const oneModel = `
[resilience]
retry_max_attempts = 1
[[providers]]
name = "p"
kind = "openai"
base_url = "http://up.test/v1"
models = [{ id = "m" }]
`

interface Door {
  readonly path: string
  readonly body: object
  /** What the end of a failed stream has. */
  readonly failed: string
}

const messages = [{ role: 'user', content: 'Hi' }]
const doors: readonly Door[] = [
  { path: '/v1/chat/completions', body: { messages }, failed: '"error"' },
  { path: '/v1/messages', body: { messages, max_tokens: 64 }, failed: 'event: error' },
  { path: '/v1/responses', body: { input: 'Hi' }, failed: 'response.failed' },
]

function ask({ get }: TestGateway, { path, body }: Door, isStream: boolean): Promise<Response> {
  const text = JSON.stringify({ model: 'm', stream: isStream, ...body })
  return get(path, { method: 'POST', body: text })
}

interface Hidden {
  readonly body: object
  readonly status: number
  readonly code: string
  readonly words: string
}

function base(code: number, words: string): object {
  return { choices: null, base_resp: { status_code: code, status_msg: words } }
}

const hidden: readonly Hidden[] = [
  {
    body: { code: 'invalid-argument', error: 'Model does not support parameter stop.' },
    status: 400,
    code: 'LM-3003',
    words: 'Model does not support parameter stop.',
  },
  ...(
    [
      [1008, 'insufficient balance', 502, 'LM-3003'],
      [1002, 'rate limit', 429, 'LM-3001'],
      [1027, 'output sensitive', 400, 'LM-2013'],
      [2013, 'invalid params, context window exceeds limit (2013)', 400, 'LM-2012'],
      [2013, 'invalid params, tool result', 400, 'LM-3003'],
      [1004, 'login fail', 502, 'LM-3003'],
      [1000, 'unknown error', 502, 'LM-3003'],
      [4711, 'a code that has no page', 502, 'LM-3002'],
    ] as const
  ).map(([given, words, status, code]) => ({ body: base(given, words), status, code, words })),
  {
    body: { code: 401, msg: 'token expired or incorrect', success: false },
    status: 502,
    code: 'LM-3003',
    words: 'token expired or incorrect',
  },
  {
    body: { code: 'Client specified an invalid argument', error: 'Unknown parameter stop.' },
    status: 400,
    code: 'LM-3003',
    words: 'Unknown parameter stop.',
  },
  ...(
    [
      [1302, 'too many concurrent requests', 429, 'LM-3001'],
      ['1308', 'usage limit reached for 5 hours', 429, 'LM-3001'],
      [1113, 'please recharge and try again', 502, 'LM-3003'],
      [1214, 'messages is illegal', 400, 'LM-3003'],
      [1261, 'Prompt exceeds', 400, 'LM-2012'],
      [1301, 'unsafe or sensitive content', 400, 'LM-2013'],
      [1000, 'authentication failed', 502, 'LM-3003'],
      [1234, 'network error of Z.ai', 502, 'LM-3003'],
    ] as const
  ).map(([given, words, status, code]) => ({
    body: { code: given, msg: words },
    status,
    code,
    words,
  })),
  {
    body: { code: 20_012, message: 'Model does not exist.', data: null },
    status: 502,
    code: 'LM-3002',
    words: 'Model does not exist.',
  },
  {
    body: { success: false, message: 'out of order', code: 200 },
    status: 502,
    code: 'LM-3002',
    words: 'out of order',
  },
]

/** Faults of the upstream, which are LM-3010 in a stream. */
const ofUpstream = new Set([
  'unknown error',
  'network error of Z.ai',
  'a code that has no page',
  'Model does not exist.',
  'out of order',
])

describe.each(doors)('an error with status 200, for $path', (door) => {
  test.each(hidden)('$words: $code', async ({ body, status, code, words }) => {
    const inEvent = ofUpstream.has(words) ? 'LM-3010' : code
    const problem = { headers: { 'content-type': 'application/problem+json; charset=utf-8' } }
    const forms: readonly (readonly [Responder, boolean, string])[] = [
      [json(body), false, code],
      [json(body), true, code],
      [json(body, problem), true, code],
      [stream([data(body) + done]), true, inEvent],
    ]
    for (const [responder, isStream, expected] of forms) {
      const gateway = await watchedGateway(oneModel)
      gateway.upstream.next(responder)
      const response = await ask(gateway, door, isStream)
      expect(await response.text()).toContain(words)
      expect(response.status).toBe(status)
      expect(settlement(gateway.log)).toMatchObject({ status, error_code: expected })
    }
  })

  test('behind content ends the stream with its words', async () => {
    const gateway = await watchedGateway(oneModel)
    gateway.upstream.next(stream([role + hello + data(base(1027, 'output sensitive')) + done]))
    const text = await (await ask(gateway, door, true)).text()
    expect(text).toContain('Hello')
    expect(text).toContain(door.failed)
    expect(text).toContain('output sensitive')
    expect(text).not.toContain('[DONE]')
  })
})

/* The same errors from upstreams of other APIs, which compatible servers report as their own API does. */

interface Api {
  readonly kind: string
  readonly paths: readonly string[]
  readonly streamType?: string
}

const all = doors.map(({ path }) => path)
const apis: readonly Api[] = [
  { kind: 'anthropic', paths: all },
  { kind: 'google', paths: all },
  { kind: 'cohere', paths: all },
  { kind: 'openai', paths: ['/v1/responses'] },
  // Its streams are no text, and have errors of their own.
  { kind: 'bedrock', paths: all, streamType: 'application/vnd.amazon.eventstream' },
]

const foreign = hidden.filter(({ words }) =>
  ['insufficient balance', 'rate limit', 'token expired or incorrect', 'out of order'].includes(
    words,
  ),
)

const pairs = apis.flatMap(({ kind, paths, streamType }) =>
  paths.map((path) => ({ kind, path, streamType })),
)

/** A model of this kind, at the vendor's own address. */
const kindConfig = (kind: string, capability = 'chat', baseUrl?: string) => `
[resilience]
retry_max_attempts = 1
[[providers]]
name = "p"
kind = "${kind}"
${baseUrl === undefined ? 'api_key_env = "P_KEY"' : `base_url = "${baseUrl}"`}
models = [{ id = "m", upstream_id = "m-1", capabilities = ["${capability}"] }]
`
const env = { P_KEY: 'k', AWS_REGION: 'us-east-1' }

describe.each(pairs)(
  'an error with status 200 of $kind, for $path',
  ({ kind, path, streamType }) => {
    const door = doors.find((one) => one.path === path) as Door

    test.each(foreign)('$words: $code', async ({ body, status, code, words }) => {
      const inEvent = ofUpstream.has(words) ? 'LM-3010' : code
      const bare = JSON.stringify(body, null, 1)
      const forms: readonly (readonly [Responder, boolean, string])[] = [
        [json(body), false, code],
        [json(body), true, code],
        ...(streamType === undefined
          ? ([
              [stream([data(body)]), true, inEvent],
              [stream([bare]), true, inEvent],
              [stream([`${bare}\n\n`]), true, inEvent],
            ] as const)
          : []),
      ]
      for (const [responder, isStream, expected] of forms) {
        const gateway = await watchedGateway(kindConfig(kind), { env })
        gateway.upstream.next(responder)
        const response = await ask(gateway, door, isStream)
        expect(await response.text()).toContain(words)
        expect(response.status).toBe(status)
        const ended = settlement(gateway.log)
        // Gemini and Cohere do not separate errors inside of a stream from malformed events.
        expect([expected, code]).toContain(ended?.['error_code'])
      }
    })
  },
)

describe.each(doors)('bare JSON in a stream, at $path', (door) => {
  const error = { error: { message: 'the GPU is\non fire', code: 503 } }

  test.each([
    ['alone', [JSON.stringify(error)]],
    ['in lines', [JSON.stringify(error, null, 2)]],
    ['behind comments', [`: hello\n\n${JSON.stringify(error)}\n`]],
    ['behind the role', [role, JSON.stringify(error)]],
    ['in pieces', [JSON.stringify(error).slice(0, 9), JSON.stringify(error).slice(9)]],
  ])('%s is that error', async (_, chunks) => {
    const gateway = await watchedGateway(oneModel)
    gateway.upstream.next(stream(chunks))
    const response = await ask(gateway, door, true)
    expect(response.status).toBe(502)
    expect(await response.text()).toContain('the GPU is on fire')
  })

  test('behind content ends the stream with its words', async () => {
    const gateway = await watchedGateway(oneModel)
    gateway.upstream.next(stream([role + hello, JSON.stringify(error, null, 2)]))
    const text = await (await ask(gateway, door, true)).text()
    expect(text).toContain('Hello')
    expect(text).toContain(door.failed)
    expect(text).toContain('the GPU is on fire')
    // Nothing but events and comments.
    expect(text).toMatch(/^(?:(?:data|event): .*\n|:.*\n|\n)*$/)
  })
})

/* Embeddings and rerank: an error is no empty answer. */

const searches: readonly {
  readonly kind: string
  readonly capability: 'embed' | 'rerank'
  readonly empty: object
  readonly baseUrl?: string
}[] = [
  { kind: 'openai', capability: 'embed', empty: { data: [] }, baseUrl: 'https://p.test/v1' },
  { kind: 'cohere', capability: 'embed', empty: {} },
  { kind: 'google', capability: 'embed', empty: {} },
  { kind: 'tei', capability: 'embed', empty: {}, baseUrl: 'https://p.test' },
  { kind: 'voyage', capability: 'embed', empty: {} },
  { kind: 'vllm', capability: 'rerank', empty: { results: [] }, baseUrl: 'https://p.test/v1' },
  { kind: 'cohere', capability: 'rerank', empty: {} },
  { kind: 'voyage', capability: 'rerank', empty: {} },
  { kind: 'jina', capability: 'rerank', empty: { results: [] } },
  { kind: 'mixedbread', capability: 'rerank', empty: {} },
]

describe.each(searches)('$capability of $kind', ({ kind, capability, empty, baseUrl }) => {
  test.each(foreign)('$words: $code', async ({ body, status, code, words }) => {
    const gateway = await watchedGateway(kindConfig(kind, capability, baseUrl), { env })
    gateway.upstream.next(json({ ...empty, ...body }))
    const asked = capability === 'embed' ? { input: 'Hi' } : { query: 'Hi', documents: ['a', 'b'] }
    const response = await gateway.get(capability === 'embed' ? '/v1/embeddings' : '/v1/rerank', {
      method: 'POST',
      body: JSON.stringify({ model: 'm', ...asked }),
    })
    expect(await response.text()).toContain(words)
    expect(response.status).toBe(status)
    expect(settlement(gateway.log)).toMatchObject({ status, error_code: code })
  })
})

/* An answer to a streamed request that is whole reaches the client as the stream that it asked for. */

const call = { id: 'c1', type: 'function', function: { name: 'f', arguments: '{"a":1}' } }
const calling = { role: 'assistant', content: null, tool_calls: [call] }

describe('a whole answer to a streamed request', () => {
  test.each(doors)('is a stream at $path', async (door) => {
    const gateway = await watchedGateway(oneModel)
    gateway.upstream.next(json(completion('Hello')))
    const response = await ask(gateway, door, true)
    expect(response.headers.get('content-type')).toMatch('text/event-stream')
    expect(await response.text()).toMatch(/^(event|data): [^]*"Hello"/)
    expect(settlement(gateway.log)).toMatchObject({ status: 200, tokens_in: 9, tokens_out: 2 })
  })

  test.each(doors)('has the calls of tools at $path', async (door) => {
    const gateway = await watchedGateway(oneModel)
    const choice = { index: 0, message: calling, finish_reason: 'tool_calls' }
    gateway.upstream.next(json(completion('', { choices: [choice], usage })))
    const text = await (await ask(gateway, door, true)).text()
    expect(text).toContain('"name":"f"')
    expect(text).toContain(JSON.stringify('{"a":1}'))
  })

  test('is written in chunks of chat completions', async () => {
    const gateway = await watchedGateway(oneModel)
    const choices = [
      { index: 0, message: calling, finish_reason: 'tool_calls' },
      { index: 1, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' },
    ]
    gateway.upstream.next(json(completion('', { choices, usage })))
    const [door] = doors as [Door]
    const asked = { ...door, body: { ...door.body, n: 2, stream_options: { include_usage: true } } }
    expect(await (await ask(gateway, asked, true)).text()).toBe(
      makeChunk({
        choices: [
          {
            index: 0,
            finish_reason: 'tool_calls',
            delta: { role: 'assistant', content: null, tool_calls: [{ index: 0, ...call }] },
          },
        ],
      }) +
        makeChunk({
          choices: [
            { index: 1, finish_reason: 'stop', delta: { role: 'assistant', content: 'Hi' } },
          ],
        }) +
        makeChunk({ choices: [], usage }) +
        done,
    )
  })

  test('is written in chunks of text completions', async () => {
    const gateway = await watchedGateway(oneModel)
    const answer = {
      id: 'cmpl-1',
      object: 'text_completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, text: 'Hello', finish_reason: 'stop' }],
      usage,
    }
    gateway.upstream.next(json(answer))
    const door = { path: '/v1/completions', body: { prompt: 'Hi' }, failed: '' }
    const { usage: _, ...chunk } = answer
    const text = await (await ask(gateway, door, true)).text()
    expect(text).toContain(data(chunk))
    expect(text).toMatch(/data: \[DONE\]\n\n$/)
  })

  /** A message with many values, three for each part. */
  const manyParts = (count: number) => ({
    role: 'assistant',
    content: Array.from({ length: count }, () => ({ type: 'text', text: 'x' })),
  })

  test.each([
    [
      'in one event',
      (delta: object) =>
        stream([
          makeChunk({ choices: [{ index: 0, delta }] }),
          makeChunk({ choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] }),
          done,
        ]),
    ],
    [
      'in place of a stream',
      (message: object) =>
        json(completion('', { choices: [{ index: 0, message, finish_reason: 'stop' }] })),
    ],
  ])(
    'with more than 50,000 values %s is not translated, and passes where it is sent as it is',
    async (_, write) => {
      const gateway = await watchedGateway(oneModel)
      const [chat, messagesDoor] = doors as [Door, Door]
      gateway.upstream.next(
        write(manyParts(16_000)),
        write(manyParts(17_000)),
        write(manyParts(17_000)),
      )
      const translated = await ask(gateway, messagesDoor, true)
      expect(await translated.text()).toContain('message_stop')
      const verbatim = await ask(gateway, chat, true)
      expect(await verbatim.text()).toContain('[DONE]')
      const refused = await ask(gateway, messagesDoor, true)
      expect(refused.status).toBe(502)
      expect(await refused.text()).toContain('too many values')
    },
  )

  test.each([
    ['that is empty', json(completion('', { choices: [] }))],
    ['that is not JSON', whole('{"choices":')],
    ['that is HTML', whole('<html>', { headers: { 'content-type': 'text/html' } })],
  ])('%s is a failed attempt', async (_, answer) => {
    const gateway = await watchedGateway(oneModel)
    gateway.upstream.next(answer)
    const [door] = doors as [Door]
    expect((await ask(gateway, door, true)).status).toBe(502)
    expect(settlement(gateway.log)).toMatchObject({ status: 502, error_code: 'LM-3002' })
  })
})
