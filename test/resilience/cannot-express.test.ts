import { describe, expect, test } from 'vitest'
import { completion, wholeStream } from '../support/answers.ts'
import { byProvider, called, type LinkSettings, makeChain } from '../support/chain.ts'
import { expectErrorShape } from '../support/contract.ts'
import { keyedGateway } from '../support/keyed-gateway.ts'
import { json, type Responder, silent, stream } from '../support/scripted-upstream.ts'
import { settlement } from '../support/stream-client.ts'
import { translatedKinds } from '../support/translated-kinds.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const images = 'modalities = ["text", "image"]'
const kinds: Readonly<Record<string, LinkSettings>> = {
  openai: { model: images },
  anthropic: { kind: 'anthropic', model: `upstream_id = "claude-sonnet-4-5", ${images}` },
  google: { kind: 'google', model: `upstream_id = "gemini-2.5-flash", ${images}` },
  vertex_ai: {
    kind: 'vertex_ai',
    path: '/v1/projects/p/locations/l',
    model: `upstream_id = "gemini-2.5-flash", ${images}`,
  },
  bedrock: {
    kind: 'bedrock',
    model: `upstream_id = "us.anthropic.claude-sonnet-4-5-20250929-v1:0", ${images}`,
  },
  cohere: { kind: 'cohere', model: `upstream_id = "command-a-03-2025", ${images}` },
}
const translated = translatedKinds.map(({ name }) => name)
const gemini = translatedKinds.flatMap(({ name, api }) => (api === 'gemini' ? [name] : []))

interface Shape {
  readonly name: string
  readonly fields: object
  /** The kinds that cannot express it. */
  readonly unable: readonly string[]
  /** The field in the error. */
  readonly param: string
}

const text = { type: 'text', text: 'Look' }
const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const png = image('data:image/png;base64,iVBO')
const wav = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
const file = (members: object) => ({ type: 'file', file: members })
const user = (...content: object[]) => [{ role: 'user', content: [text, ...content] }]
const past = (call: object, more: object[] = []) => ({
  messages: [{ role: 'user', content: 'Hi' }, { role: 'assistant', tool_calls: [call] }, ...more],
})
const f = { type: 'function', function: { name: 'f', arguments: '{}' } }
const result = (content: unknown) => ({ role: 'tool', tool_call_id: 'c1', content })
const f1 = { id: 'c1', ...f }
const part = 'messages.0.content.1'

const shapes: readonly Shape[] = [
  {
    name: 'a PDF',
    fields: { messages: user(file({ file_data: 'data:application/pdf;base64,JVBE' })) },
    unable: ['cohere'],
    param: part,
  },
  {
    name: 'a stored file',
    fields: { messages: user(file({ file_id: 'file-1' })) },
    unable: [...gemini, 'bedrock', 'cohere'],
    param: part,
  },
  {
    name: 'a file of another type',
    fields: { messages: user(file({ file_data: 'data:application/zip;base64,AAAA' })) },
    unable: ['anthropic', 'bedrock', 'cohere'],
    param: part,
  },
  {
    name: 'audio',
    fields: { messages: user(wav) },
    unable: ['anthropic', 'bedrock', 'cohere'],
    param: part,
  },
  {
    name: 'video',
    fields: { messages: user({ type: 'video_url', video_url: { url: 'https://x.test/a.mp4' } }) },
    unable: translated,
    param: part,
  },
  {
    name: 'a part of a new type',
    fields: { messages: user({ type: 'hologram' }) },
    unable: translated,
    param: part,
  },
  {
    name: 'an SVG image',
    fields: { messages: user(image('data:image/svg+xml;base64,AAAA')) },
    unable: ['anthropic', 'bedrock'],
    param: `${part}.image_url`,
  },
  {
    name: 'an image that is not base64',
    fields: { messages: user(image('data:image/png,x')) },
    unable: ['anthropic', ...gemini, 'bedrock'],
    param: `${part}.image_url`,
  },
  {
    name: 'a system message with an image',
    fields: { messages: [{ role: 'system', content: [text, png] }, ...user()] },
    unable: translated,
    param: part,
  },
  {
    name: 'an answer with an image',
    fields: { messages: [{ role: 'assistant', content: [text, png] }, ...user()] },
    unable: ['anthropic', 'bedrock', 'cohere'],
    param: part,
  },
  {
    name: 'a spoken answer',
    fields: {
      messages: [{ role: 'assistant', content: null, audio: { id: 'audio_1' } }, ...user()],
    },
    unable: translated,
    param: 'messages.0.audio',
  },
  {
    name: 'a tool result with an image',
    fields: past(f1, [result([text, png])]),
    unable: [...gemini, 'cohere'],
    param: 'messages.2.content.1',
  },
  {
    name: 'a tool message without an id',
    fields: past(f, [{ role: 'tool', content: '1' }]),
    unable: translated,
    param: 'messages.2.tool_call_id',
  },
  {
    name: 'a result of an unknown call',
    fields: { messages: [...user(), result('1')] },
    unable: gemini,
    param: 'messages.1.tool_call_id',
  },
  {
    name: 'a past call without a function',
    fields: past({ id: 'c1', type: 'mcp', mcp: {} }, [result('1')]),
    unable: translated,
    param: 'messages.1.tool_calls.0.function',
  },
  {
    name: 'a role of another time',
    fields: { messages: [{ role: 'wizard', content: 'x' }] },
    unable: translated,
    param: 'messages.0.role',
  },
  {
    name: 'instructions alone',
    fields: { messages: [{ role: 'system', content: 'x' }] },
    unable: [],
    param: 'messages',
  },
  {
    name: 'a temperature as text',
    fields: { temperature: '0.5' },
    unable: translated,
    param: 'temperature',
  },
  { name: 'a number as stop', fields: { stop: 5 }, unable: translated, param: 'stop' },
  { name: 'a fraction as seed', fields: { seed: 1.5 }, unable: translated, param: 'seed' },
  {
    name: 'a tool without a function',
    fields: { tools: [{ type: 'function' }] },
    unable: translated,
    param: 'tools.0.function',
  },
  {
    name: 'a choice of an unknown function',
    fields: {
      tools: [{ type: 'function', function: { name: 'f' } }],
      tool_choice: { type: 'function', function: { name: 'g' } },
    },
    unable: gemini,
    param: 'tool_choice',
  },
  {
    name: 'thinking that is not an object',
    fields: { thinking: 'on' },
    unable: ['anthropic', 'bedrock'],
    param: 'thinking',
  },
  {
    name: 'a schema with a dangling reference',
    fields: {
      tools: [
        {
          type: 'function',
          function: {
            name: 'f',
            parameters: { type: 'object', properties: { a: { $ref: '#/$defs/gone' } } },
          },
        },
      ],
    },
    unable: gemini,
    param: 'tools.0.function.parameters',
  },
]

const cases = shapes.flatMap((shape) =>
  shape.unable.flatMap((kind) =>
    [false, true].map((streamed) => ({
      ...shape,
      kind,
      streamed,
      how: streamed ? 'streamed' : 'whole',
    })),
  ),
)

function link(kind: string, settings = ''): LinkSettings {
  const known = kinds[kind]
  if (!known) throw new Error(`kinds has no settings for ${kind}`)
  return { ...known, settings }
}
const body = (fields: object, streamed: boolean) => ({
  model: 'm',
  messages: [{ role: 'user', content: 'Hi' }],
  ...(streamed && { stream: true }),
  ...fields,
})
const answering = (streamed: boolean): Responder =>
  streamed ? stream([wholeStream]) : json(completion())
const failing = json({ error: { message: 'boom' } }, { status: 500 })
const once = 'retry_max_attempts = 1\ncircuit_failure_threshold = 2\ncircuit_cooldown_ms = 60000'

describe.each(cases)('$name, for $kind, $how', ({ fields, kind, streamed, param }) => {
  const request = body(fields, streamed)

  test('the link is skipped after a link that failed, and the next link serves', async () => {
    const gateway = await watchedGateway(
      makeChain([link('openai'), link(kind), link('openai')], once),
    )
    byProvider(gateway.upstream, { p: failing, p3: answering(streamed) })
    // The second request opens the circuit of the first link, the third finds it open.
    for (const expected of [['p', 'p3'], ['p', 'p3'], ['p3']]) {
      gateway.upstream.requests.length = 0
      const response = await gateway.chat(request)
      expect(response.status).toBe(200)
      expect(response.headers.get('x-gateway-model-used')).toBe('m3')
      await response.text()
      expect(called(gateway.upstream)).toEqual(expected)
    }
  })

  test.each(['', 'strict = true'])(
    'the link is skipped as the first link too: %j',
    async (settings) => {
      const gateway = await watchedGateway(makeChain([link(kind, settings), link('openai')], once))
      byProvider(gateway.upstream, { p2: answering(streamed) })
      const response = await gateway.chat(request)
      expect(response.status).toBe(200)
      expect(response.headers.get('x-gateway-provider')).toBe('p2')
      await response.text()
      const metrics = await (await gateway.get('/metrics')).text()
      expect(metrics).not.toMatch(/gateway_circuit_state\{provider="p",model="m"\} [12]/)
    },
  )

  test('when no link can express the request it is LM-1001, before any call and unaccounted', async () => {
    const gateway = await keyedGateway(makeChain([link(kind), link(kind)]))
    const key = await gateway.key({ rpm_limit: 1 })
    for (let round = 0; round < 2; round++) {
      const { status, body: answer } = await gateway.ask(key, request)
      expect(status).toBe(400)
      expect(answer['error']).toMatchObject({ code: 'LM-1001' })
      expect(String((answer['error'] as { param: string }).param)).toContain(param)
    }
    expect(gateway.upstream.requests).toEqual([])
    expect(await gateway.rows()).toEqual([])
  })

  test('when other links failed, their error is returned and the request is accounted', async () => {
    const gateway = await keyedGateway(makeChain([link('openai'), link(kind)], once))
    const key = await gateway.key({ rpm_limit: 1 })
    byProvider(gateway.upstream, { p: failing })
    const { status, body: answer } = await gateway.ask(key, request)
    expect(status).toBe(503)
    expect(answer['error']).toMatchObject({
      code: 'LM-3004',
      message: expect.stringMatching(/m \(1 attempt\): .*boom; m2 \(0 attempts\): cannot express /),
    })
    expect((await gateway.ask(key, request)).status).toBe(429)
    expect(await gateway.rows()).toMatchObject([
      { status: 503, attempts: 1, errorCode: 'LM-3004' },
      { status: 429, attempts: 0 },
    ])
  })
})

const ableCases = shapes.flatMap(({ name, fields, unable }) =>
  translated.filter((kind) => !unable.includes(kind)).map((kind) => ({ name, fields, kind })),
)

test.each(ableCases)('$name is sent to $kind', async ({ fields, kind }) => {
  const gateway = await watchedGateway(makeChain([link(kind)], once))
  byProvider(gateway.upstream, { p: failing })
  await gateway.chat(body(fields, false))
  expect(called(gateway.upstream)).toEqual(['p'])
})

describe('a skipped link has no effect on the outcome of the others', () => {
  const audio = body({ messages: user(wav) }, false)
  const able = answering(false)

  test('a skipped link does not change the rate limit error of the others', async () => {
    const gateway = await watchedGateway(makeChain([link('openai'), link('cohere')], once))
    byProvider(gateway.upstream, { p: json({}, { status: 429, headers: { 'retry-after': '9' } }) })
    const response = await gateway.chat(audio)
    expect(response.status).toBe(429)
    expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-3001', retry_after: 9 })
  })

  test('a skipped link does not change the open circuit error of the others', async () => {
    const gateway = await watchedGateway(makeChain([link('openai'), link('cohere')], once))
    byProvider(gateway.upstream, { p: failing })
    await gateway.chat(audio)
    await gateway.chat(audio)
    gateway.upstream.requests.length = 0
    expect(await expectErrorShape(await gateway.chat(audio))).toMatchObject({ code: 'LM-3020' })
    expect(gateway.upstream.requests).toEqual([])
  })

  test('a skipped link leaves the probe of a half-open circuit to the next request', async () => {
    const gateway = await watchedGateway(
      makeChain([link('cohere'), link('openai')], once.replace('= 2', '= 1')),
    )
    const answer = {
      message: { content: [{ type: 'text', text: 'Hi' }] },
      finish_reason: 'COMPLETE',
    }
    byProvider(gateway.upstream, { p: failing, p2: able })
    await gateway.chat(body({}, false))
    await gateway.clock.advance(60_000)
    byProvider(gateway.upstream, { p: json(answer), p2: able })
    expect((await gateway.chat(audio)).headers.get('x-gateway-provider')).toBe('p2')
    expect((await gateway.chat(body({}, false))).headers.get('x-gateway-provider')).toBe('p')
  })

  test('a skipped link does not change the total timeout', async () => {
    const cut = 'total_timeout_ms = 1000'
    const gateway = await watchedGateway(makeChain([link('openai', cut), link('cohere')], once))
    byProvider(gateway.upstream, { p: silent() })
    const pending = gateway.chat(audio)
    await gateway.clock.advance(1000)
    expect(await expectErrorShape(await pending)).toMatchObject({ code: 'LM-3013' })
  })
})

describe('a reference to the file store of one vendor', () => {
  test('fallbacks of other vendors are skipped', async () => {
    for (const kind of ['google', 'bedrock', 'cohere', 'openai']) {
      const gateway = await watchedGateway(makeChain([link('anthropic'), link(kind)], once))
      byProvider(gateway.upstream, { p: failing })
      const request = body({ messages: user(image('anthropic-file:f1')) }, false)
      const error = await expectErrorShape(await gateway.chat(request))
      expect(error).toMatchObject({
        code: 'LM-3004',
        message: expect.stringContaining('m2 (0 attempts): cannot express'),
      })
      expect(called(gateway.upstream)).toEqual(['p'])
    }
  })
})

describe('strict', () => {
  const seeded = body({ seed: 7 }, false)

  test('a strict first link that would have to drop a field refuses at once', async () => {
    const gateway = await watchedGateway(
      makeChain([link('anthropic', 'strict = true'), link('openai')]),
    )
    const error = await expectErrorShape(await gateway.chat(seeded))
    expect(error).toMatchObject({
      code: 'LM-1001',
      param: 'seed',
      message: 'provider p cannot honour seed',
    })
    expect(gateway.upstream.requests).toEqual([])
  })

  test('a strict fallback that would have to drop a field is skipped while others serve', async () => {
    const gateway = await watchedGateway(
      makeChain([link('openai'), link('anthropic', 'strict = true'), link('openai')], once),
    )
    byProvider(gateway.upstream, { p: answering(false) })
    expect((await gateway.chat(seeded)).status).toBe(200)
    byProvider(gateway.upstream, { p: failing, p3: answering(false) })
    expect((await gateway.chat(seeded)).headers.get('x-gateway-model-used')).toBe('m3')
    byProvider(gateway.upstream, { p: failing, p3: failing })
    const error = await expectErrorShape(await gateway.chat(seeded))
    expect(error.message).toContain(
      'm2 (0 attempts): cannot express the request: provider p2 cannot honour seed',
    )
  })

  test('a fallback that is not strict drops the field, and a debug line names it', async () => {
    const gateway = await watchedGateway(makeChain([link('openai'), link('anthropic')], once))
    const message = { content: [{ type: 'text', text: 'Hi' }], stop_reason: 'end_turn' }
    byProvider(gateway.upstream, { p: answering(false) })
    await gateway.chat(seeded)
    expect(gateway.log.filter(({ level }) => level === 'debug')).toEqual([])
    byProvider(gateway.upstream, { p: failing, p2: json(message) })
    expect((await gateway.chat(seeded)).headers.get('x-gateway-provider')).toBe('p2')
    expect(gateway.log).toContainEqual({
      level: 'debug',
      message: 'fields dropped',
      fields: expect.objectContaining({ model: 'm2', fields: ['seed'] }),
    })
  })

  test('dimensions of embeddings follow the same rule', async () => {
    const embedder = (kind: string, settings = '') => ({
      kind,
      settings,
      model: 'capabilities = ["embed"]',
    })
    const init = { method: 'POST', body: '{"model":"m","input":"x","dimensions":8}' }
    const vectors = json({ data: [{ index: 0, embedding: [1, 0] }], usage: { prompt_tokens: 1 } })
    const gateway = await watchedGateway(
      makeChain(
        [embedder('openai'), embedder('ollama', 'strict = true'), embedder('openai')],
        once,
      ),
    )
    byProvider(gateway.upstream, { p: failing, p3: vectors })
    const served = await gateway.get('/v1/embeddings', init)
    expect(served.headers.get('x-gateway-model-used')).toBe('m3')
    const refusing = await watchedGateway(
      makeChain([embedder('ollama', 'strict = true'), embedder('openai')]),
    )
    const error = await expectErrorShape(await refusing.get('/v1/embeddings', init))
    expect(error).toMatchObject({ code: 'LM-1001', param: 'dimensions' })
    expect(refusing.upstream.requests).toEqual([])
  })
})

describe('a new value of a known field', () => {
  const values: readonly (readonly [string, object])[] = [
    ['reasoning_effort', { reasoning_effort: 'ultra' }],
    ['tool_choice', { tool_choice: { type: 'mcp' } }],
    ['tool_choice', { tool_choice: 'any' }],
    ['response_format', { response_format: { type: 'grammar', grammar: 'x' } }],
    ['service_tier', { service_tier: 'moon' }],
    ['tools.0', { tools: [{ type: 'mcp', server_url: 'x' }] }],
  ]
  const table = values.flatMap(([field, fields]) =>
    translated.map((kind) => ({ field, fields, kind })),
  )

  test.each(table)('$fields is dropped by $kind', async ({ field, fields, kind }) => {
    const gateway = await watchedGateway(makeChain([link(kind)], once))
    byProvider(gateway.upstream, { p: failing })
    await gateway.chat(body(fields, false))
    expect(called(gateway.upstream)).toEqual(['p'])
    expect(gateway.upstream.text()).not.toMatch(/ultra|mcp|"any"|grammar|moon/)
    expect(gateway.log).toContainEqual({
      level: 'debug',
      message: 'fields dropped',
      fields: expect.objectContaining({ fields: [field] }),
    })
  })

  test.each(table)('$fields is LM-1001 for a strict $kind', async ({ field, fields, kind }) => {
    const gateway = await watchedGateway(makeChain([link(kind, 'strict = true')]))
    const error = await expectErrorShape(await gateway.chat(body(fields, false)))
    expect(error).toMatchObject({ code: 'LM-1001', param: field })
    expect(gateway.upstream.requests).toEqual([])
  })
})

test('a request that no link can express leaves the usual request line', async () => {
  const gateway = await watchedGateway(makeChain([link('cohere')]))
  await gateway.chat(body({ messages: user(wav) }, false))
  expect(settlement(gateway.log)).toMatchObject({ status: 400, error_code: 'LM-1001', attempts: 0 })
})
