import { describe, expect, test } from 'vitest'
import type { DemoSettings } from '../../../src/core/provider-kind.ts'
import { createDemoUpstream } from '../../../src/providers/demo/upstream.ts'
import { LightAbortController } from '../../../src/wire/light-abort-controller.ts'
import { expectErrorShape } from '../../support/contract.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { ManualClock } from '../../support/manual-clock.ts'
import { isPending } from '../../support/pending.ts'
import { StreamReader, settlement, streamed } from '../../support/stream-client.ts'
import { watchedGateway } from '../../support/watched-gateway.ts'

const config = (settings = '', more = '') => `
  [resilience]
  retry_max_attempts = 1
  circuit_failure_threshold = 1000
  ${more}
  [[providers]]
  name = "p"
  kind = "demo"
  ${settings}
  models = [{ id = "m" }]
`

const createRequest = (content: unknown, more: object = {}) => ({
  model: 'm',
  messages: [{ role: 'user', content }],
  ...more,
})

interface Answer {
  readonly choices: readonly {
    readonly index: number
    readonly finish_reason: string
    readonly message: { readonly content: string | null; readonly tool_calls?: readonly Call[] }
  }[]
  readonly usage: Readonly<Record<string, unknown>>
}
interface Call {
  readonly id: string
  readonly type: string
  readonly function: { readonly name: string; readonly arguments: string }
}

async function ask({ chat }: TestGateway, body: object): Promise<Answer> {
  const response = await chat(body)
  expect(response.status).toBe(200)
  return (await response.json()) as Answer
}

const weather = {
  type: 'function',
  function: {
    name: 'weather',
    parameters: {
      type: 'object',
      properties: {
        city: { type: 'string' },
        days: { type: 'integer', minimum: 3 },
        unit: { enum: ['celsius', 'kelvin'] },
        optional: { type: 'string' },
      },
      required: ['city', 'days', 'unit'],
    },
  },
}
const time = { type: 'function', function: { name: 'time' } }

describe('failure_rate', () => {
  test.each([
    [0, '........'],
    [0.25, '...x...x'],
    [0.5, '.x.x.x.x'],
    [0.75, '.xxx.xxx'],
    [1, 'xxxxxxxx'],
  ])('a rate of %f fails that share of the calls, evenly spread', async (rate, expected) => {
    const gateway = await watchedGateway(config(`failure_rate = ${rate}`))
    let pattern = ''
    for (let call = 0; call < 8; call++) {
      const { status } = await gateway.chat(createRequest('Hi'))
      pattern += status === 200 ? '.' : 'x'
    }
    expect(pattern).toBe(expected)
  })

  test.each([0.001, 0.01, 0.1, 1 / 3, 0.7, 0.999])(
    'a rate of %f fails exactly its share of a thousand calls',
    async (failureRate) => {
      const call = createUpstream({ failureRate })
      let failed = 0
      for (let turn = 0; turn < 1000; turn++) failed += (await call()).status === 503 ? 1 : 0
      expect(failed).toBe(Math.floor(1000 * failureRate))
    },
  )

  test('a failure is a 503, so that retries and fallbacks can be rehearsed', async () => {
    const gateway = await watchedGateway(config('failure_rate = 1'))
    const response = await gateway.chat(createRequest('Hi'))
    expect(response.status).toBe(502)
    const error = await expectErrorShape(response)
    expect(error.code).toBe('LM-3003')
    expect(error.message).toContain(
      'status 503: the demo provider failed as configured by failure_rate',
    )
  })

  test('a retry succeeds', async () => {
    const gateway = await watchedGateway(config('failure_rate = 0.5').replace('= 1\n', '= 3\n'))
    await gateway.chat(createRequest('Hi'))
    gateway.log.length = 0
    const pending = gateway.chat(createRequest('Hi'))
    await gateway.clock.advance(1000)
    expect((await pending).status).toBe(200)
    expect(settlement(gateway.log)).toMatchObject({ attempts: 2 })
  })

  test('each provider counts its own failures', async () => {
    const other = config('failure_rate = 1')
      .replaceAll('"p"', '"q"')
      .replace('"m"', '"n"')
      .replace(/\[resilience\][^[]*/, '')
    const gateway = await watchedGateway(config() + other)
    expect((await gateway.chat(createRequest('Hi'))).status).toBe(200)
    expect((await gateway.chat(createRequest('Hi', { model: 'n' }))).status).toBe(502)
    expect((await gateway.chat(createRequest('Hi'))).status).toBe(200)
  })
})

describe('latency_ms', () => {
  test.each([
    ['a whole answer', createRequest('Hi')],
    ['a stream', streamed()],
  ])('the latency comes before %s', async (_, body) => {
    const gateway = await watchedGateway(config('latency_ms = 250'))
    const pending = gateway.chat(body)
    await gateway.clock.advance(249)
    expect(await isPending(pending)).toBe(true)
    await gateway.clock.advance(1)
    const response = await pending
    expect(response.status).toBe(200)
    await response.text()
  })

  test('the latency comes before a failure too', async () => {
    const gateway = await watchedGateway(config('latency_ms = 250\nfailure_rate = 1'))
    const pending = gateway.chat(createRequest('Hi'))
    await gateway.clock.advance(249)
    expect(await isPending(pending)).toBe(true)
    await gateway.clock.advance(1)
    expect((await pending).status).toBe(502)
  })

  test('the wait ends when the client disconnects', async () => {
    const gateway = await watchedGateway(config('latency_ms = 60000'))
    const controller = new AbortController()
    const pending = gateway.chat(createRequest('Hi'), { signal: controller.signal })
    await gateway.clock.advance(1000)
    controller.abort()
    expect((await pending).status).toBe(499)
    expect(gateway.clock.pending).toBe(0)
  })

  test('a latency above the first-token timeout is a timeout', async () => {
    const gateway = await watchedGateway(config('latency_ms = 5000\nfirst_token_timeout_ms = 1000'))
    const pending = gateway.chat(createRequest('Hi'))
    await gateway.clock.advance(1000)
    expect((await pending).status).toBe(504)
  })
})

describe('tokens_per_second', () => {
  test('a stream is paced at one word per token', async () => {
    const gateway = await watchedGateway(config('tokens_per_second = 10'))
    const pending = gateway.chat(streamed({ max_tokens: 3 }))
    await gateway.clock.advance(99)
    expect(await isPending(pending)).toBe(true)
    await gateway.clock.advance(1)
    const reader = new StreamReader(await pending)
    const words = async () => ((await reader.next()) ?? '').match(/"content":"\w+ "/g)
    // Frames held by the commit gate arrive together with the first word.
    expect(await words()).toEqual(['"content":"Hello "'])
    for (const word of ['from ', 'the ']) {
      const next = words()
      await gateway.clock.advance(99)
      expect(await isPending(next)).toBe(true)
      await gateway.clock.advance(1)
      expect(await next).toEqual([`"content":"${word}"`])
    }
    expect(await reader.rest()).toContain('data: [DONE]')
    expect(settlement(gateway.log)).toMatchObject({ latency_ms: 300, ttft_ms: 100 })
  })

  test('a pace of 0 sends everything at once', async () => {
    const gateway = await watchedGateway(config())
    const text = await (await gateway.chat(streamed())).text()
    expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  })

  test('the pace ends when the client disconnects', async () => {
    const gateway = await watchedGateway(config('tokens_per_second = 1'))
    const pending = gateway.chat(streamed())
    await gateway.clock.advance(1000)
    const reader = new StreamReader(await pending)
    await reader.next()
    await reader.leave()
    expect(gateway.clock.pending).toBe(0)
    expect(settlement(gateway.log)).toMatchObject({ status: 499 })
  })
})

describe('the answer', () => {
  test('the answer repeats the last message as a chat completion', async () => {
    const gateway = await watchedGateway(config())
    expect(await ask(gateway, createRequest('two words'))).toEqual({
      id: expect.stringMatching(/^chatcmpl-demo-/),
      object: 'chat.completion',
      created: 1_764_000_000,
      model: 'm',
      choices: [
        {
          index: 0,
          message: {
            role: 'assistant',
            content: 'Hello from the demo provider of Model Gateway. You said: two words',
            refusal: null,
          },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 2, completion_tokens: 12, total_tokens: 14 },
    })
  })

  test('a stream has the same text as an answer', async () => {
    const gateway = await watchedGateway(config())
    const whole = await ask(gateway, createRequest('Hi  there\nyou'))
    const text = await (
      await gateway.chat(createRequest('Hi  there\nyou', { stream: true }))
    ).text()
    const chunks = text
      .split('\n\n')
      .filter((frame) => frame.startsWith('data: {'))
      .map((frame) => JSON.parse(frame.slice(6)))
    const content = chunks.map(({ choices: [choice] }) => choice?.delta?.content ?? '').join('')
    expect(content).toBe(whole.choices[0]?.message.content)
    expect(new Set(chunks.map(({ id }) => id)).size).toBe(1)
  })

  const counted = '"usage":{"prompt_tokens":1,"completion_tokens":11,"total_tokens":12}'

  test.each([
    ['asked for', { stream_options: { include_usage: true } }, '"choices":[]'],
    ['not asked for', {}, '"choices":[{"index":0,"delta":{},"finish_reason":null}]'],
  ])('a stream reports the usage of the whole answer: %s', async (_, more, choices) => {
    const gateway = await watchedGateway(config())
    expect(JSON.stringify(await ask(gateway, createRequest('Hi')))).toContain(counted)
    gateway.log.length = 0
    const text = await (await gateway.chat(streamed(more))).text()
    expect(text).toContain(`${choices},${counted}`)
    expect(text.split('"usage"')).toHaveLength(2)
    expect(settlement(gateway.log)).toMatchObject({
      tokens_in: 1,
      tokens_out: 11,
      estimated: false,
    })
  })

  test('a message without words counts as one token', async () => {
    const gateway = await watchedGateway(config())
    expect((await ask(gateway, createRequest(null))).usage).toMatchObject({ prompt_tokens: 1 })
  })

  test.each([
    [
      'parts',
      [
        { type: 'text', text: 'a' },
        { type: 'text', text: 'b' },
      ],
      'You said: a b',
    ],
    ['null', null, 'You said: '],
    [
      'parts without text',
      [
        { type: 'image_url', image_url: null },
        { type: 'text', text: null },
      ],
      'You said:  ',
    ],
  ])('content of %s is repeated as its text', async (_, content, expected) => {
    const gateway = await watchedGateway(config())
    const { choices } = await ask(gateway, createRequest(content))
    expect(choices[0]?.message.content?.trimEnd().endsWith(expected.trimEnd())).toBe(true)
  })

  test.each([
    ['max_tokens', { max_tokens: 2 }],
    ['max_completion_tokens before max_tokens', { max_completion_tokens: 2, max_tokens: 9 }],
  ])('%s truncates the answer', async (_, limit) => {
    const gateway = await watchedGateway(config())
    const { choices, usage } = await ask(gateway, createRequest('Hi', limit))
    expect(choices[0]).toMatchObject({
      message: { content: 'Hello from ' },
      finish_reason: 'length',
    })
    expect(usage).toMatchObject({ completion_tokens: 2 })
  })

  test('n returns that many choices, with and without streaming', async () => {
    const gateway = await watchedGateway(config())
    const { choices, usage } = await ask(gateway, createRequest('Hi', { n: 3 }))
    expect(choices.map(({ index }) => index)).toEqual([0, 1, 2])
    expect(usage).toMatchObject({ completion_tokens: 33 })
    const text = await (await gateway.chat(streamed({ n: 2 }))).text()
    expect(text.match(/"finish_reason":"stop"/g)).toHaveLength(2)
  })

  test.each([129, 1e9, Number.MAX_SAFE_INTEGER])('n of %d is refused', async (n) => {
    const gateway = await watchedGateway(config())
    const response = await gateway.chat(createRequest('Hi', { n }))
    expect(response.status).toBe(400)
    expect((await expectErrorShape(response)).message).toContain('cannot read n')
  })

  test('a prompt of megabytes is not repeated in full', async () => {
    const gateway = await watchedGateway(config())
    const text = await (
      await gateway.chat(createRequest('a '.repeat(2_000_000), { stream: true }))
    ).text()
    expect(text.length).toBeLessThan(1_000_000)
    expect(settlement(gateway.log)).toMatchObject({ status: 200 })
  })
})

describe('tools', () => {
  const named = (name: string) => ({ type: 'function', function: { name } })

  async function callsOf(content: string, more: object): Promise<readonly Call[]> {
    const gateway = await watchedGateway(config())
    const { choices } = await ask(gateway, createRequest(content, more))
    return choices[0]?.message.tool_calls ?? []
  }

  test('tool_choice: required calls the first tool with arguments of its schema', async () => {
    const gateway = await watchedGateway(config())
    const { choices } = await ask(
      gateway,
      createRequest('Hi', { tools: [weather, time], tool_choice: 'required' }),
    )
    expect(choices[0]).toMatchObject({ finish_reason: 'tool_calls', message: { content: null } })
    const [call] = choices[0]?.message.tool_calls ?? []
    expect(call).toMatchObject({
      id: expect.stringMatching(/^call_/),
      type: 'function',
      function: { name: 'weather' },
    })
    expect(JSON.parse(call?.function.arguments ?? '')).toEqual({
      city: 'demo',
      days: 3,
      unit: 'celsius',
    })
  })

  test('the tool that tool_choice names is called', async () => {
    const tools = [weather, time]
    expect(await callsOf('Hi', { tools, tool_choice: named('time') })).toMatchObject([
      { function: { name: 'time', arguments: '{}' } },
    ])
  })

  test.each([
    'Call time',
    'please use the time tool.',
    'Now: invoke the tool `time`!',
    'A page of instructions.\n\nUse the function "time", please',
  ])('the tool that the user names is called: %j', async (content) => {
    const tools = [weather, time]
    expect(await callsOf(content, { tools })).toMatchObject([{ function: { name: 'time' } }])
    expect(await callsOf(content, { tools, tool_choice: 'auto' })).toHaveLength(1)
  })

  test('a name that is not an ordinary word needs no verb', async () => {
    const tools = [{ type: 'function', function: { name: 'get_weather' } }]
    const calls = await callsOf('get_weather, please!', { tools })
    expect(calls).toMatchObject([{ function: { name: 'get_weather' } }])
    expect(await callsOf('Please get the weather', { tools })).toEqual([])
  })

  test.each([
    'Hi',
    'What is the weather at this time?',
    'Use the timer',
    'You may call the time tool.\n\nWhat is up?',
  ])('a tool that is only offered is not called: %j', async (content) => {
    expect(await callsOf(content, { tools: [weather, time] })).toEqual([])
  })

  test.each([
    ['tool_choice is none', { tools: [weather], tool_choice: 'none' }],
    ['no tool is offered', { tools: [] }],
    ['tools is null', { tools: null }],
    ['tool_choice names another one', { tools: [weather], tool_choice: named('x') }],
  ])('no tool is called when %s', async (_, more) => {
    expect(await callsOf('Use the weather tool', more)).toEqual([])
  })

  test('arguments are as harmless as their schema permits', async () => {
    const properties = {
      recursive: { type: 'boolean' },
      forced: { enum: [true] },
      count: { type: 'integer' },
      atLeast: { type: 'number', exclusiveMinimum: 2 },
      atMost: { type: 'integer', maximum: -3 },
      steps: { type: 'integer', minimum: 7, multipleOf: 5 },
      long: { type: 'string', minLength: 6 },
      short: { type: 'string', maxLength: 2 },
      day: { type: 'string', format: 'date' },
      unit: { $ref: '#/$defs/unit' },
      pair: { prefixItems: [{ type: 'string' }, { type: 'boolean' }], type: 'array' },
      none: { type: 'array', maxItems: 0 },
      optional: { type: 'string' },
    }
    const parameters = {
      type: 'object',
      properties,
      required: Object.keys(properties).filter((name) => name !== 'optional'),
      $defs: { unit: { enum: ['metre', 'mile'] } },
    }
    const tools = [{ type: 'function', function: { name: 'delete_path', parameters } }]
    const [call] = await callsOf('Hi', { tools, tool_choice: 'required' })
    expect(JSON.parse(call?.function.arguments ?? '')).toEqual({
      recursive: false,
      forced: true,
      count: 0,
      atLeast: 3,
      atMost: -3,
      steps: 10,
      long: 'demo..',
      short: 'de',
      day: '2000-01-01',
      unit: 'metre',
      pair: ['demo', false],
      none: [],
    })
  })

  test('the answer after a tool result repeats the result', async () => {
    const gateway = await watchedGateway(config())
    const body = {
      model: 'm',
      tools: [weather],
      tool_choice: 'required',
      messages: [
        { role: 'user', content: 'Hi' },
        {
          role: 'assistant',
          content: null,
          tool_calls: [
            { id: 'c', type: 'function', function: { name: 'weather', arguments: '{}' } },
          ],
        },
        { role: 'tool', tool_call_id: 'c', content: '21 degrees' },
      ],
    }
    const { choices } = await ask(gateway, body)
    expect(choices[0]).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'The tool answered: 21 degrees' },
    })
  })

  test('a streamed call has id, type and name once, then the arguments in pieces', async () => {
    const gateway = await watchedGateway(config())
    const text = await (
      await gateway.chat(streamed({ tools: [weather], tool_choice: 'required' }))
    ).text()
    const deltas = [...text.matchAll(/data: (\{.*\})/g)].flatMap(([, chunk = '']) =>
      JSON.parse(chunk).choices.flatMap(
        (choice: { delta: { tool_calls?: Call[] } }) => choice.delta.tool_calls ?? [],
      ),
    )
    expect(deltas[0]).toMatchObject({
      index: 0,
      type: 'function',
      function: { name: 'weather', arguments: '' },
    })
    expect(deltas.slice(1).every((delta) => !('id' in delta) && !('name' in delta.function))).toBe(
      true,
    )
    const joined = deltas.map((delta) => delta.function.arguments).join('')
    expect(JSON.parse(joined)).toEqual({ city: 'demo', days: 3, unit: 'celsius' })
  })
})

describe('response_format', () => {
  test('json_schema returns a value of that schema', async () => {
    const gateway = await watchedGateway(config())
    const schema = {
      type: 'object',
      properties: {
        name: { type: 'string' },
        tags: { type: 'array', items: { type: 'string' } },
        nested: {
          type: 'object',
          properties: { ok: { type: 'boolean' }, n: { type: ['number', 'null'] } },
        },
        either: { anyOf: [{ const: 7 }, { type: 'string' }] },
      },
      required: ['name', 'tags', 'nested', 'either'],
    }
    const format = { type: 'json_schema', json_schema: { name: 'x', schema } }
    const { choices } = await ask(gateway, createRequest('Hi', { response_format: format }))
    expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({
      name: 'demo',
      tags: ['demo'],
      nested: { ok: false, n: 0 },
      either: 7,
    })
  })

  test.each([
    ['no schema', undefined],
    ['null', null],
    ['a schema that is true', true],
    [
      'required names that Object.prototype has',
      { type: 'object', properties: {}, required: ['constructor', '__proto__'] },
    ],
    [
      'a schema 120 deep',
      JSON.parse(`${'{"type":"array","items":'.repeat(60)}{}${'}'.repeat(60)}`),
    ],
    [
      'members that refer to each other',
      {
        $ref: '#/$defs/a',
        $defs: { a: { type: 'object', properties: { ...everyMember({ $ref: '#/$defs/a' }) } } },
      },
    ],
    [
      'a long constant with many references',
      {
        type: 'object',
        properties: { ...everyMember({ $ref: '#/$defs/a' }) },
        $defs: { a: { const: 'x'.repeat(1_000_000) } },
      },
    ],
    [
      'required names that repeat',
      {
        $ref: '#/$defs/a',
        $defs: {
          a: {
            type: 'object',
            required: Array(50_000).fill('k0'),
            properties: { k0: { $ref: '#/$defs/a' } },
          },
        },
      },
    ],
  ])('json_schema with %s still returns JSON', async (_, schema) => {
    const gateway = await watchedGateway(config())
    const format = { type: 'json_schema', json_schema: { name: 'x', schema } }
    const { choices } = await ask(gateway, createRequest('Hi', { response_format: format }))
    expect(() => JSON.parse(choices[0]?.message.content ?? '')).not.toThrow()
  })

  test('json_object returns an object', async () => {
    const gateway = await watchedGateway(config())
    const { choices } = await ask(
      gateway,
      createRequest('Hi', { response_format: { type: 'json_object' } }),
    )
    expect(JSON.parse(choices[0]?.message.content ?? '')).toEqual({ you_said: 'Hi' })
  })
})

test('an invalid request is a client error that names the field', async () => {
  const gateway = await watchedGateway(config())
  const response = await gateway.chat(createRequest('Hi', { tool_choice: 7 }))
  expect(response.status).toBe(400)
  expect((await expectErrorShape(response)).message).toContain(
    'the demo provider cannot read tool_choice',
  )
})

test('an unknown path is a 404', async () => {
  const call = createUpstream({})
  expect((await call('/v1/nowhere')).status).toBe(404)
})

/** A schema with fifty members of this schema. */
function everyMember(schema: object): object {
  return Object.fromEntries(Array.from({ length: 50 }, (_, at) => [`k${at}`, schema]))
}

/** The demo upstream without a gateway. */
function createUpstream(settings: Partial<DemoSettings>) {
  const upstream = createDemoUpstream(
    { latency: 0, tokensPerSecond: 0, failureRate: 0, ...settings },
    new ManualClock(),
  )
  const body = new TextEncoder().encode(JSON.stringify(createRequest('Hi')))
  return (path = '/v1/chat/completions') =>
    upstream({
      method: 'POST',
      url: `http://demo.invalid${path}`,
      headers: {},
      body,
      connectTimeout: 1000,
      queueLimit: 100_000,
      signal: new LightAbortController(),
    })
}
