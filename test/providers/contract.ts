import { describe, expect, test } from 'vitest'
import { readError } from '../support/gateway.ts'
import { json } from '../support/scripted-upstream.ts'
import type { ChatContractCase, ScriptedAnswer } from './contract-case.ts'
import {
  askVendor,
  expectOrder,
  expectText,
  hello,
  type Mode,
  openGateway,
  question,
  readAnswer,
  readOutcome,
} from './contract-exchange.ts'
import { testFailures, testStreams } from './contract-failures.ts'
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

function testAnswers(kindCase: ChatContractCase, mode: Mode): void {
  test('an answer has text, finish reason, usage and the serving provider', async () => {
    const gateway = await openGateway(kindCase)
    const response = await askVendor(gateway, kindCase, mode, hello, { max_tokens: 100 })
    expect(response.headers.get('x-gateway-model-used')).toBe('m')
    expect(response.headers.get('x-gateway-provider')).toBe('p')
    const outcome = await readAnswer(response, mode)
    expect(outcome).toMatchObject({ finish: 'stop', calls: [], refusal: '', reasoning: '' })
    expectText(kindCase, outcome.content, 'Grüße, 世界 🦆')
  })

  test.runIf(kindCase.script)('the usage is what the vendor reports', async () => {
    const gateway = await openGateway(kindCase)
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
    const gateway = await openGateway(kindCase)
    const outcome = await readOutcome(gateway, kindCase, mode, { ...hello, usage })
    expect(outcome.usage).toMatchObject({ estimated: true })
    expect(outcome.usage?.['completion_tokens']).toBeGreaterThan(0)
    expect(outcome.usage?.['prompt_tokens']).toBeGreaterThan(0)
  })

  test.runIf(kindCase.script).each([
    ['prompt', { prompt: 0, completion: 6 }, { completion_tokens: 6 }],
    ['output', { prompt: 9, completion: 0 }, { prompt_tokens: 9 }],
  ])('of usage whose %s is 0, only that side is estimated', async (_, usage, known) => {
    const gateway = await openGateway(kindCase)
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
      const gateway = await openGateway(kindCase)
      const { finish } = await readOutcome(gateway, kindCase, mode, { ...hello, finish: 'length' })
      expect(finish).toBe('length')
    },
  )

  test.runIf(kindCase.script && kindCase.reasoning)(
    'reasoning is separate from the text',
    async () => {
      const gateway = await openGateway(kindCase)
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
    const gateway = await openGateway(kindCase)
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
    const gateway = await openGateway(kindCase)
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
    const gateway = await openGateway(kindCase)
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
    const gateway = await openGateway(kindCase)
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
    const gateway = await openGateway(kindCase)
    await readOutcome(gateway, kindCase, 'whole', hello, looking(`data:image/png;base64,${pixel}`))
    if (kindCase.script) expect(gateway.upstream.text()).toContain(pixel)
  })

  test.runIf(kindCase.remoteImages)('a remote image is sent as its address', async () => {
    const gateway = await openGateway(kindCase)
    await readOutcome(gateway, kindCase, 'whole', hello, looking('https://example.com/a.png'))
    if (kindCase.script) expect(gateway.upstream.text()).toContain('https://example.com/a.png')
  })

  test.runIf(!kindCase.remoteImages)('a remote image is refused with LM-2004', async () => {
    const { chat, upstream } = await openGateway(kindCase)
    const response = await chat({ model: 'm', ...looking('https://example.com/a.png') })
    expect(response.status).toBe(400)
    expect((await readError(response))['code']).toBe('LM-2004')
    expect(upstream.requests).toEqual([])
  })

  test('an image for a text-only model is refused with LM-2003', async () => {
    const { chat, upstream } = await openGateway(kindCase)
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
        const gateway = await openGateway(kindCase, { strict })
        await readOutcome(gateway, kindCase, 'whole', hello, { vendor_extra: { a: 1 } })
        expect(gateway.upstream.body()).toHaveProperty('vendor_extra', { a: 1 })
      }
    })
    return
  }
  const { field, value } = dropped

  test(`${field} is dropped`, async () => {
    const gateway = await openGateway(kindCase)
    await readOutcome(gateway, kindCase, 'whole', hello, { [field]: value })
    expect(gateway.upstream.text()).not.toContain(field)
  })

  test(`${field} is refused by a strict provider before any call`, async () => {
    const { chat, upstream } = await openGateway(kindCase, { strict: true })
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
    const gateway = await openGateway(kindCase)
    gateway.upstream.always(json(script?.answer(hello)))
    const response = await gateway.chat({ model: 'm', messages: [question], ...fields })
    expect(response.headers.get('x-gateway-dropped')).toBe(path)
    expect(gateway.upstream.text()).not.toContain(foreign)
    const { chat } = await openGateway(kindCase, { strict: true })
    const refused = await chat({ model: 'm', messages: [question], ...fields })
    expect(await readError(refused)).toMatchObject({ code: 'LM-1001', param: path })
  })

  test('default values are never refused', async () => {
    const gateway = await openGateway(kindCase, { strict: true })
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

function result(id: string | undefined, content: string): object {
  return { role: 'tool', tool_call_id: id, content }
}
