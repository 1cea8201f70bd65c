import { describe, expect, test } from 'vitest'
import type { UpstreamFailure } from '../../src/core/failure.ts'
import { assemble, type Outcome, readStream, toOutcome } from '../support/chunks.ts'
import { providerKey, readError, type TestGateway } from '../support/gateway.ts'
import { pieces, singly } from '../support/pieces.ts'
import { json, type Responder, stream } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/** The answer of a model, independent of the vendor's format. */
export interface ScriptedAnswer {
  /** The pieces of a streamed answer. */
  readonly text?: readonly string[]
  readonly reasoning?: string
  readonly calls?: readonly ScriptedCall[]
  readonly finish: 'stop' | 'length' | 'tool_calls'
  /** Absent: the vendor reports no usage. The numbers may be invalid. */
  readonly usage?: { readonly prompt: number; readonly completion: number } | undefined
  /** The client has asked for a usage chunk. */
  readonly asked?: boolean
}

export interface ScriptedCall {
  readonly id: string
  readonly name: string
  readonly arguments: Readonly<Record<string, unknown>>
}

/** The bytes of a streamed answer. Each item is one event of the vendor. */
export interface StreamScript {
  /** The events before the first content. May be empty. */
  readonly opening: readonly (string | Uint8Array)[]
  /** At least one item for each piece of text. */
  readonly content: readonly (string | Uint8Array)[]
  /** The events that complete the answer. Without them the stream is truncated. */
  readonly end: readonly (string | Uint8Array)[]
}

/** The format of a vendor. */
export interface VendorScript {
  /** The JSON body of an answer. */
  answer(scripted: ScriptedAnswer): unknown
  events(scripted: ScriptedAnswer): StreamScript
  /** The media type of a stream when it is not `text/event-stream`. */
  readonly contentType?: string
  /** The JSON body of an error with this status. */
  error(status: number, message: string): unknown
  /** An error event inside a stream: the vendor is overloaded or has failed. */
  streamError(message: string): string | Uint8Array
}

/** The facts about one kind that the contract needs. */
export interface ChatContractCase {
  readonly kind: string
  readonly upstreamId: string
  /** Further settings of the provider, one TOML line each. */
  readonly settings?: string
  /** The value of the variable that `api_key_env` names. */
  readonly secret?: string
  /** Absent for a kind with its own upstream. */
  readonly script?: VendorScript
  /** The kind accepts http(s) addresses of images, not only data URIs. */
  readonly remoteImages: boolean
  readonly reasoning: boolean
  readonly jsonSchema: boolean
  /** A field that the kind does not support, with a value other than the default. */
  readonly dropped?: { readonly field: string; readonly value: unknown }
}

/** Tests what clients may rely on for every kind. */
export function testChatContract(kindCase: ChatContractCase): void {
  const { kind, script } = kindCase
  describe(kind, () => {
    describe.each(['whole', 'streamed'] as const)('%s', (mode) => {
      testAnswers(kindCase, mode)
      testTools(kindCase, mode)
      testRequests(kindCase, mode)
      if (script) testFailures(kindCase, script, mode)
    })
    testImages(kindCase)
    testStrictness(kindCase)
    if (script) testStreams(kindCase, script)
  })
}

type Mode = 'whole' | 'streamed'

const hello: ScriptedAnswer = {
  text: ['Grüße, ', '世界 ', '🦆'],
  finish: 'stop',
  usage: { prompt: 9, completion: 6 },
}

function testAnswers(kindCase: ChatContractCase, mode: Mode): void {
  test('an answer has text, finish reason, usage and the serving provider', async () => {
    const gateway = await open(kindCase)
    const response = await ask(gateway, kindCase, mode, hello, { max_tokens: 100 })
    expect(response.headers.get('x-gateway-model-used')).toBe('m')
    expect(response.headers.get('x-gateway-provider')).toBe('p')
    const outcome = await read(response, mode)
    expect(outcome).toMatchObject({ finish: 'stop', calls: [], refusal: '', reasoning: '' })
    expectText(kindCase, outcome.content, 'Grüße, 世界 🦆')
  })

  test.runIf(kindCase.script)('the usage is what the vendor reports', async () => {
    const gateway = await open(kindCase)
    const fields = { stream_options: { include_usage: true } }
    const { usage } = await readOutcome(gateway, kindCase, mode, { ...hello, asked: true }, fields)
    expect(usage).toMatchObject({ prompt_tokens: 9, completion_tokens: 6, total_tokens: 15 })
    expect(usage).not.toHaveProperty('estimated')
  })

  test.runIf(kindCase.script).each([
    ['absent', undefined],
    ['negative', { prompt: -1, completion: 5 }],
    ['above the safe integers', { prompt: 2 ** 60, completion: 5 }],
  ])('usage that is %s is estimated', async (_, usage) => {
    const gateway = await open(kindCase)
    const outcome = await readOutcome(gateway, kindCase, mode, { ...hello, usage })
    expect(outcome.usage).toMatchObject({ estimated: true })
    expect(outcome.usage?.['completion_tokens']).toBeGreaterThan(0)
    expect(outcome.usage?.['prompt_tokens']).toBeGreaterThan(0)
  })

  test.runIf(kindCase.script).each([
    ['prompt', { prompt: 0, completion: 6 }, { completion_tokens: 6 }],
    ['output', { prompt: 9, completion: 0 }, { prompt_tokens: 9 }],
  ])('of usage whose %s is 0, only that side is estimated', async (_, usage, known) => {
    const gateway = await open(kindCase)
    const fields = { stream_options: { include_usage: true } }
    const outcome = await readOutcome(
      gateway,
      kindCase,
      mode,
      { ...hello, usage, asked: true },
      fields,
    )
    expect(outcome.usage).toMatchObject({ ...known, estimated: true })
    const { prompt_tokens: prompt, completion_tokens: output } = outcome.usage ?? {}
    expect(prompt).toBeGreaterThan(0)
    expect(output).toBeGreaterThan(0)
    expect(outcome.usage?.['total_tokens']).toBe(Number(prompt) + Number(output))
  })

  test.runIf(kindCase.script)(
    'an answer at its output limit has the finish reason length',
    async () => {
      const gateway = await open(kindCase)
      const { finish } = await readOutcome(gateway, kindCase, mode, { ...hello, finish: 'length' })
      expect(finish).toBe('length')
    },
  )

  test.runIf(kindCase.script && kindCase.reasoning)(
    'reasoning is separate from the text',
    async () => {
      const gateway = await open(kindCase)
      const thought: ScriptedAnswer = { ...hello, reasoning: 'They greet me.' }
      const outcome = await readOutcome(gateway, kindCase, mode, thought, {
        reasoning_effort: 'high',
      })
      expect(outcome).toMatchObject({ reasoning: 'They greet me.', content: 'Grüße, 世界 🦆' })
    },
  )
}

const weather = {
  type: 'function',
  function: {
    name: 'get_weather',
    description: 'The weather of a city',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string' } },
      required: ['city'],
    },
  },
}
const clock = { type: 'function', function: { name: 'get_time' } }

function testTools(kindCase: ChatContractCase, mode: Mode): void {
  test('a tool is called, its result is sent back, and the answer follows', async () => {
    const gateway = await open(kindCase)
    const asking = { tools: [weather] }
    const first = await readOutcome(
      gateway,
      kindCase,
      mode,
      {
        calls: [{ id: 'call_1', name: 'get_weather', arguments: { city: 'Oslo' } }],
        finish: 'tool_calls',
        usage: { prompt: 20, completion: 8 },
      },
      { ...asking, tool_choice: 'required' },
    )
    expect(first).toMatchObject({ finish: 'tool_calls', content: null })
    expect(first.calls.map(({ function: { name } }) => name)).toEqual(['get_weather'])
    const [call] = first.calls
    expect(call?.id).toMatch(/\S/)
    const input: unknown = JSON.parse(call?.function.arguments ?? '')
    expect(input).toEqual({ city: kindCase.script ? 'Oslo' : expect.any(String) })

    const second = await readOutcome(gateway, kindCase, mode, hello, {
      ...asking,
      messages: [question, first.message, result(call?.id, '12 degrees')],
    })
    expect(second).toMatchObject({ finish: 'stop', calls: [] })
    expectOrder(kindCase, gateway, ['Oslo', '12 degrees'])
  })

  test.runIf(kindCase.script)('parallel calls keep their order and their results', async () => {
    const gateway = await open(kindCase)
    const first = await readOutcome(
      gateway,
      kindCase,
      mode,
      {
        text: ['Let me see.'],
        calls: [
          { id: 'call_1', name: 'get_weather', arguments: { city: 'Oslo' } },
          { id: 'call_2', name: 'get_time', arguments: {} },
          { id: 'call_3', name: 'get_weather', arguments: { city: 'Lima' } },
        ],
        finish: 'tool_calls',
        usage: { prompt: 20, completion: 8 },
      },
      { tools: [weather, clock] },
    )
    expect(first.calls.map(({ function: called }) => called)).toEqual([
      { name: 'get_weather', arguments: expect.stringContaining('Oslo') },
      // A call without arguments has an empty object of them.
      { name: 'get_time', arguments: '{}' },
      { name: 'get_weather', arguments: expect.stringContaining('Lima') },
    ])
    const ids = first.calls.map(({ id }) => id)
    expect(new Set(ids).size, 'ids differ').toBe(3)

    await readOutcome(gateway, kindCase, mode, hello, {
      tools: [weather, clock],
      messages: [
        question,
        first.message,
        result(ids[0], '12 degrees'),
        result(ids[1], 'noon'),
        result(ids[2], '20 degrees'),
        { role: 'user', content: 'And now?' },
      ],
    })
    expectOrder(kindCase, gateway, ['Oslo', 'Lima', '12 degrees', 'noon', '20 degrees', 'And now?'])
  })
}

function testRequests(kindCase: ChatContractCase, mode: Mode): void {
  test.runIf(kindCase.jsonSchema)('a JSON schema is sent to the vendor', async () => {
    const gateway = await open(kindCase)
    const schema = {
      type: 'object',
      properties: { harvest: { type: 'string' } },
      required: ['harvest'],
      additionalProperties: false,
    }
    const format = { type: 'json_schema', json_schema: { name: 'crop', strict: true, schema } }
    const { content } = await readOutcome(
      gateway,
      kindCase,
      mode,
      { ...hello, text: ['{"harvest":', '"rye"}'] },
      { response_format: format },
    )
    expect(JSON.parse(content ?? '')).toEqual({
      harvest: kindCase.script ? 'rye' : expect.any(String),
    })
    if (kindCase.script) expect(gateway.upstream.text()).toContain('harvest')
  })

  test.runIf(kindCase.script)('the messages reach the vendor in order', async () => {
    const gateway = await open(kindCase)
    await readOutcome(gateway, kindCase, mode, hello, {
      messages: [
        { role: 'system', content: 'Rule one.' },
        { role: 'user', content: [{ type: 'text', text: 'First question' }] },
        { role: 'assistant', content: 'First answer' },
        { role: 'user', content: 'Second question' },
      ],
    })
    expect(gateway.upstream.text()).toContain('Rule one.')
    expectOrder(kindCase, gateway, ['First question', 'First answer', 'Second question'])
  })
}

const pixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

function testImages(kindCase: ChatContractCase): void {
  const looking = (url: string) => ({
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is this?' },
          { type: 'image_url', image_url: { url, detail: 'low' } },
        ],
      },
    ],
  })

  test('an image in a data URI is sent to the vendor', async () => {
    const gateway = await open(kindCase)
    await readOutcome(gateway, kindCase, 'whole', hello, looking(`data:image/png;base64,${pixel}`))
    if (kindCase.script) expect(gateway.upstream.text()).toContain(pixel)
  })

  test.runIf(kindCase.remoteImages)('a remote image is sent as its address', async () => {
    const gateway = await open(kindCase)
    await readOutcome(gateway, kindCase, 'whole', hello, looking('https://example.com/a.png'))
    if (kindCase.script) expect(gateway.upstream.text()).toContain('https://example.com/a.png')
  })

  test.runIf(!kindCase.remoteImages)('a remote image is refused with LM-2004', async () => {
    const { chat, upstream } = await open(kindCase)
    const response = await chat({ model: 'm', ...looking('https://example.com/a.png') })
    expect(response.status).toBe(400)
    expect((await readError(response))['code']).toBe('LM-2004')
    expect(upstream.requests).toEqual([])
  })

  test('an image for a text-only model is refused with LM-2003', async () => {
    const { chat, upstream } = await open(kindCase)
    const response = await chat({
      model: 'blind',
      ...looking(`data:image/png;base64,${pixel}`),
    })
    expect(response.status).toBe(400)
    expect((await readError(response))['code']).toBe('LM-2003')
    expect(upstream.requests).toEqual([])
  })
}

function testStrictness(kindCase: ChatContractCase): void {
  const { kind, dropped, script } = kindCase
  if (!dropped) {
    test.runIf(script)('unknown fields are accepted, strict or not', async () => {
      for (const strict of [false, true]) {
        const gateway = await open(kindCase, { strict })
        await readOutcome(gateway, kindCase, 'whole', hello, { vendor_extra: { a: 1 } })
        expect(gateway.upstream.body()).toHaveProperty('vendor_extra', { a: 1 })
      }
    })
    return
  }
  const { field, value } = dropped

  test(`${field} is dropped`, async () => {
    const gateway = await open(kindCase)
    await readOutcome(gateway, kindCase, 'whole', hello, { [field]: value })
    expect(gateway.upstream.text()).not.toContain(field)
  })

  test(`${field} is refused by a strict provider before any call`, async () => {
    const { chat, upstream } = await open(kindCase, { strict: true })
    const response = await chat({ model: 'm', messages: [question], [field]: value })
    expect(response.status).toBe(400)
    expect(await readError(response)).toMatchObject({ code: 'LM-1001', param: field })
    expect(upstream.requests).toEqual([])
  })

  const foreign = kind === 'cohere' ? 'guardrail_config' : 'citation_options'

  test.each([
    ['at the top level', { [foreign]: { mode: 'x' } }, foreign],
    ['under extra_body', { extra_body: { [foreign]: { mode: 'x' } } }, `extra_body.${foreign}`],
  ])("another vendor's field %s is dropped, or refused by its place", async (_, fields, path) => {
    const gateway = await open(kindCase)
    gateway.upstream.always(json(script?.answer(hello)))
    const response = await gateway.chat({ model: 'm', messages: [question], ...fields })
    expect(response.headers.get('x-gateway-dropped')).toBe(path)
    expect(gateway.upstream.text()).not.toContain(foreign)
    const { chat } = await open(kindCase, { strict: true })
    const refused = await chat({ model: 'm', messages: [question], ...fields })
    expect(await readError(refused)).toMatchObject({ code: 'LM-1001', param: path })
  })

  test('default values are never refused', async () => {
    const gateway = await open(kindCase, { strict: true })
    await readOutcome(gateway, kindCase, 'whole', hello, {
      n: 1,
      logprobs: false,
      frequency_penalty: 0,
      presence_penalty: 0,
      logit_bias: {},
      store: false,
      parallel_tool_calls: true,
      modalities: ['text'],
      response_format: { type: 'text' },
      service_tier: 'auto',
      stop: null,
      seed: null,
      tools: null,
      tool_choice: null,
      reasoning_effort: null,
    })
  })
}

function testFailures(kindCase: ChatContractCase, script: VendorScript, mode: Mode): void {
  const refused = (status: number, message = 'the vendor says no'): Responder =>
    json(script.error(status, message), { status })
  const head = toHead(script)

  test('a 400 of the vendor goes to the client with its reason, without a retry', async () => {
    const gateway = await open(kindCase)
    gateway.upstream.next(refused(400, 'this field is odd'))
    const response = await send(gateway, mode)
    expect(response.status).toBe(400)
    const { code, message } = await readError(response)
    expect(code).toBe('LM-3003')
    expect(message).toContain('this field is odd')
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test.each([401, 403])('a refused credential (%i) is a server error', async (status) => {
    const gateway = await open(kindCase)
    const { secret = providerKey } = kindCase
    gateway.upstream.next(refused(status, `key ${secret} is wrong`))
    const response = await send(gateway, mode)
    expect(response.status).toBe(502)
    const { code, message } = await readError(response)
    expect(code).toBe('LM-3003')
    expect(message).not.toContain(secret)
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test('a 400 that blames the account, or its error in a stream, is a server error', async () => {
    const words = 'Your credit balance is too low'
    const event = stream([script.streamError(words)], head)
    for (const responder of mode === 'whole'
      ? [refused(400, words)]
      : [refused(400, words), event]) {
      const gateway = await open(kindCase)
      gateway.upstream.next(responder)
      const response = await send(gateway, mode)
      expect(response.status).toBe(502)
      const { code, message } = await readError(response)
      expect(code).toBe('LM-3003')
      expect(message).toContain(words)
      expect(gateway.upstream.requests).toHaveLength(1)
    }
  })

  test('a rate limit is retried after its delay, then returned', async () => {
    const gateway = await open(kindCase)
    gateway.upstream.always(refused(429))
    const response = await send(gateway, mode)
    expect(response.status).toBe(429)
    expect((await readError(response))['code']).toBe('LM-3001')
    expect(gateway.upstream.requests).toHaveLength(2)
  })

  test.each([500, 503])('a %i is retried with the same request', async (status) => {
    const gateway = await open(kindCase)
    gateway.upstream.next(refused(status), answering(script, hello, mode))
    const outcome = await read(await send(gateway, mode), mode)
    expect(outcome.content).toBe('Grüße, 世界 🦆')
    expect(gateway.upstream.requests).toHaveLength(2)
    expect(gateway.upstream.body(1)).toEqual(gateway.upstream.body(0))
  })

  test('a malformed answer is retried, then LM-3002', async () => {
    const gateway = await open(kindCase)
    gateway.upstream.always(json('<html>busy</html>'))
    const response = await send(gateway, mode)
    expect(response.status).toBe(502)
    const { code, message } = await readError(response)
    expect(code).toBe('LM-3002')
    expect(message).not.toContain('busy')
    expect(gateway.upstream.requests).toHaveLength(2)
  })
}

function testStreams(kindCase: ChatContractCase, script: VendorScript): void {
  const { opening, content, end } = script.events(hello)
  const broken: UpstreamFailure = { kind: 'network', reason: 'ECONNRESET' }
  const overloaded = script.streamError('overloaded')
  const head = toHead(script)

  test('a stream has the same content however the network splits it', async () => {
    const { chat, upstream } = await open(kindCase)
    const bytes = concat([...opening, ...content, ...end])
    upstream.next(pieces(singly(bytes), script.contentType))
    const { chunks, done } = await readStream(
      await chat({ model: 'm', stream: true, messages: [question] }),
    )
    expect(assemble(chunks)).toMatchObject({ content: 'Grüße, 世界 🦆', finish: 'stop' })
    expect(done).toBe(true)
  })

  test('usage has its own chunk when the client asks for it', async () => {
    const gateway = await open(kindCase)
    const fields = { stream_options: { include_usage: true } }
    const asked: ScriptedAnswer = { ...hello, asked: true }
    const { chunks } = await readStream(await ask(gateway, kindCase, 'streamed', asked, fields))
    expect(chunks.filter(({ usage }) => usage)).toEqual([chunks.at(-1)])
    expect(chunks.at(-1)?.choices).toEqual([])
  })

  test('usage has its own chunk with an empty choice when the client did not ask for it', async () => {
    const gateway = await open(kindCase)
    const { chunks } = await readStream(await ask(gateway, kindCase, 'streamed', hello))
    expect(chunks.filter(({ usage }) => usage)).toEqual([chunks.at(-1)])
    expect(chunks.at(-1)?.choices).toEqual([{ index: 0, delta: {}, finish_reason: null }])
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop')
  })

  test.runIf(kindCase.dropped).each([false, true])(
    'counts of 0 from the vendor never reach the client (usage requested: %s)',
    async (asked) => {
      const gateway = await open(kindCase)
      const zeros: ScriptedAnswer = { ...hello, usage: { prompt: 0, completion: 0 } }
      const fields = { stream_options: { include_usage: asked } }
      const { chunks } = await readStream(await ask(gateway, kindCase, 'streamed', zeros, fields))
      expect(chunks.flatMap(({ usage }) => usage ?? [])).toEqual([
        expect.objectContaining({ estimated: true }),
      ])
    },
  )

  test.each([
    ['dies', stream(opening, { ...head, failure: broken })],
    ['ends', stream(opening, head)],
    ['is empty', stream([], head)],
    ['reports an error', stream([...opening, overloaded], head)],
  ])('a stream that %s before its content is retried', async (_, dying) => {
    const gateway = await open(kindCase)
    gateway.upstream.next(dying, answering(script, hello, 'streamed'))
    const outcome = await read(await send(gateway, 'streamed'), 'streamed')
    expect(outcome).toMatchObject({ content: 'Grüße, 世界 🦆', finish: 'stop' })
  })

  test('streams that end before their content are LM-3010 in JSON', async () => {
    const gateway = await open(kindCase)
    gateway.upstream.always(stream(opening, head))
    const response = await send(gateway, 'streamed')
    expect(response.status).toBe(502)
    expect((await readError(response))['code']).toBe('LM-3010')
  })

  test.each([
    ['dies', stream([...opening, ...content], { ...head, failure: broken })],
    ['ends without its last event', stream([...opening, ...content], head)],
    ['reports an error', stream([...opening, ...content, overloaded, ...end], head)],
  ])('a stream that %s after its content ends in a terminal frame', async (_, dying) => {
    const gateway = await open(kindCase)
    gateway.upstream.next(dying)
    const { chunks, done, error } = await readStream(await send(gateway, 'streamed'))
    expect(assemble(chunks).content).toBe('Grüße, 世界 🦆')
    expect(done).toBe(false)
    expect(error).toMatchObject({ code: 'LM-3010', type: 'upstream_error' })
    expect(gateway.upstream.requests).toHaveLength(1)
  })

  test('events after the end are dropped', async () => {
    const gateway = await open(kindCase)
    gateway.upstream.next(stream([...opening, ...content, ...end, ...content, overloaded], head))
    const { chunks, done } = await readStream(await send(gateway, 'streamed'))
    expect(assemble(chunks).content).toBe('Grüße, 世界 🦆')
    expect(done).toBe(true)
  })
}

const question = { role: 'user', content: 'What is the weather?' }

function result(id: string | undefined, content: string): object {
  return { role: 'tool', tool_call_id: id, content }
}

function open(
  { kind, upstreamId, settings = '', secret = providerKey }: ChatContractCase,
  { strict = false } = {},
): Promise<TestGateway> {
  const config = `
    [resilience]
    retry_max_attempts = 2
    [[providers]]
    name = "p"
    kind = "${kind}"
    api_key_env = "P_KEY"
    strict = ${strict}
    ${settings}
    [[providers.models]]
    id = "m"
    upstream_id = "${upstreamId}"
    modalities = ["text", "image"]
    [[providers.models]]
    id = "blind"
    upstream_id = "${upstreamId}"
  `
  return watchedGateway(config, { env: { P_KEY: secret } })
}

/** Sends a request with these fields, to which the vendor gives this answer. */
async function ask(
  gateway: TestGateway,
  { script }: ChatContractCase,
  mode: Mode,
  what: ScriptedAnswer,
  fields: object = {},
): Promise<Response> {
  if (script) gateway.upstream.next(answering(script, what, mode))
  return send(gateway, mode, fields)
}

/** Does the same and reads the answer to its end. */
async function readOutcome(
  gateway: TestGateway,
  kindCase: ChatContractCase,
  mode: Mode,
  what: ScriptedAnswer,
  fields: object = {},
): Promise<Outcome> {
  return read(await ask(gateway, kindCase, mode, what, fields), mode)
}

/** Sends a request and advances the clock until it is answered, including retries. */
async function send(
  { chat, clock: time }: TestGateway,
  mode: Mode,
  fields: object = {},
): Promise<Response> {
  const streamed = mode === 'streamed' && { stream: true }
  const pending = chat({ model: 'm', ...streamed, messages: [question], ...fields })
  await time.advance(10_000)
  return pending
}

async function read(response: Response, mode: Mode): Promise<Outcome> {
  expect(response.status, response.status === 200 ? '' : await response.text()).toBe(200)
  if (mode === 'whole') return toOutcome(await response.json())
  const { chunks, done } = await readStream(response)
  expect(done, 'the stream ends with [DONE]').toBe(true)
  return assemble(chunks)
}

function answering(script: VendorScript, what: ScriptedAnswer, mode: Mode): Responder {
  if (mode === 'whole') return json(script.answer(what))
  const { opening, content, end } = script.events(what)
  return stream([...opening, ...content, ...end], toHead(script))
}

function toHead({ contentType }: VendorScript): { headers?: Record<string, string> } {
  return contentType === undefined ? {} : { headers: { 'content-type': contentType } }
}

/** A kind with its own upstream answers with its own text. */
function expectText({ script }: ChatContractCase, content: string | null, text: string): void {
  if (script) expect(content).toBe(text)
  else expect(content).toMatch(/\S/)
}

/** Expects these texts in the last upstream body, each once and in this order. */
function expectOrder(
  { script }: ChatContractCase,
  { upstream }: TestGateway,
  texts: readonly string[],
): void {
  if (!script) return
  const body = upstream.text()
  const places = texts.map((text) => body.indexOf(text))
  expect(places).toEqual([...places].sort((a, b) => a - b))
  for (const text of texts) expect(body.split(text).length - 1, text).toBe(1)
}

function concat(events: readonly (string | Uint8Array)[]): Uint8Array {
  return Buffer.concat(events.map((event) => Buffer.from(event)))
}
