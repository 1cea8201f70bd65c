import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { markMessages } from '../../src/providers/anthropic/auto-marks.ts'
import { markConverse } from '../../src/providers/bedrock/auto-marks.ts'
import { testGateway } from '../support/gateway.ts'
import { keyedGateway, masterKey } from '../support/keyed-gateway.ts'
import { json } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const prices =
  'cost_per_1m_input = 4\ncost_per_1m_output = 20\ncost_per_1m_cached_input = 0.4\ncost_per_1m_cache_write = 5'
const configOf = (
  more = 'cache_marks = "auto"',
  kind = 'anthropic',
  upstreamId = 'claude-opus-5',
) => `
[resilience]
retry_max_attempts = 1
[[providers]]
name = "p"
kind = "${kind}"
base_url = "https://p.test"
api_key_env = "P_KEY"
[[providers.models]]
id = "m"
upstream_id = "${upstreamId}"
${prices}
${more}
`
const bedrock = configOf('cache_marks = "auto"', 'bedrock', 'anthropic.claude-sonnet-4-5-v1:0')
const answer = json({
  id: 'x',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'Hi' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 5, output_tokens: 2 },
})
const mark = { type: 'ephemeral' }
const markText = '"cache_control":{"type":"ephemeral"}'
const tool = (name: string, more: object = {}) => ({
  name,
  input_schema: { type: 'object' },
  ...more,
})
const text = (value: string, more: object = {}) => ({ type: 'text', text: value, ...more })

/** Sends a body to the Messages API, and returns what the upstream gets. */
async function sendMessages(body: string, config = configOf()): Promise<string> {
  const { get, upstream } = await watchedGateway(config)
  upstream.always(answer)
  await (await get('/v1/messages', { method: 'POST', body })).text()
  return upstream.text()
}

describe('a native body without a mark', () => {
  test('is marked at the end of tools, of the system text and of the last two turns, and keeps all other bytes', async () => {
    const sent = `{ "model":"m", "max_tokens": 9,"big":12345678901234567890,
      "tools": [{"name":"a","input_schema":{}}, {"name" : "b","input_schema":{"x":1.0} } ],
      "system" : "Be \\u0062rief",
      "messages":[{"role":"user","content":"one"},{"role":"assistant","content":"1"},
        {"role":"user","content":[{"type":"text","text":"two"}, {"type":"tool_result","tool_use_id":"t","content":"r"}]},
        {"role":"assistant","content":[{"type":"text","text":"2"}]},
        {"content":"three" , "role":"user"}]}`
    expect(await sendMessages(sent)).toBe(
      sent
        .replace('"m"', '"claude-opus-5"')
        .replace('{"x":1.0} }', `{"x":1.0} ,${markText}}`)
        .replace('"Be \\u0062rief"', `[{"type":"text","text":"Be \\u0062rief",${markText}}]`)
        .replace('"content":"r"}', `"content":"r",${markText}}`)
        .replace('"three"', `[{"type":"text","text":"three",${markText}}]`),
    )
  })

  test.each([
    [
      'a mark on a part',
      { messages: [{ role: 'user', content: [text('x', { cache_control: mark })] }] },
    ],
    ['a mark of the request', { cache_control: mark, messages: [{ role: 'user', content: 'x' }] }],
    [
      'a mark on a tool',
      {
        tools: [tool('a', { cache_control: mark }), tool('b')],
        messages: [{ role: 'user', content: 'x' }],
      },
    ],
  ])('%s leaves it as it is', async (_, body) => {
    const sent = JSON.stringify({ model: 'm', max_tokens: 9, ...body })
    expect(await sendMessages(sent)).toBe(sent.replace('"m"', '"claude-opus-5"'))
  })

  test('without the setting nothing is marked', async () => {
    const sent = JSON.stringify({
      model: 'm',
      max_tokens: 9,
      messages: [{ role: 'user', content: 'x' }],
    })
    expect(await sendMessages(sent, configOf(''))).toBe(sent.replace('"m"', '"claude-opus-5"'))
  })

  const marked = (body: object) =>
    JSON.parse(
      new TextDecoder().decode(markMessages(new TextEncoder().encode(JSON.stringify(body)))),
    )

  test.each<[string, object, object]>([
    [
      'a null mark is replaced',
      { system: [text('x', { cache_control: null })] },
      { system: [text('x', { cache_control: mark })] },
    ],
    [
      'blank texts take no mark',
      { system: [text('x'), text(' ')] },
      { system: [text('x', { cache_control: mark }), text(' ')] },
    ],
    ['a blank system stays', { system: '' }, { system: '' }],
    [
      'tools that are loaded later take none',
      { tools: [tool('a'), tool('b', { defer_loading: true })] },
      { tools: [tool('a', { cache_control: mark }), tool('b', { defer_loading: true })] },
    ],
    [
      'messages of a turn count once',
      {
        messages: [
          { role: 'user', content: 'one' },
          { role: 'assistant', content: 'x' },
          { role: 'user', content: 'two' },
          { role: 'user', content: 'three' },
          { role: 'user', content: '' },
        ],
      },
      {
        messages: [
          { role: 'user', content: [text('one', { cache_control: mark })] },
          { role: 'assistant', content: 'x' },
          { role: 'user', content: 'two' },
          { role: 'user', content: [text('three', { cache_control: mark })] },
          { role: 'user', content: '' },
        ],
      },
    ],
    [
      'empty lists stay',
      { tools: [], system: [], messages: [] },
      { tools: [], system: [], messages: [] },
    ],
  ])('%s', (_, body, expected) => {
    expect(marked(body)).toEqual(expected)
  })
})

describe('a translated link', () => {
  const messages = [
    { role: 'system', content: 'Be brief' },
    { role: 'user', content: 'one' },
    { role: 'assistant', content: 'x' },
    { role: 'user', content: 'two' },
    { role: 'assistant', content: 'y' },
    { role: 'user', content: 'three' },
  ]
  const tools = [{ type: 'function', function: { name: 'f', parameters: { type: 'object' } } }]
  const sent = async (config: string, more: object = {}) => {
    const { chat, upstream } = await testGateway(config, {
      env: { P_KEY: 'AKIAAAAAAAAAAAAAAAAA:c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0' },
    })
    upstream.always(answer)
    await (await chat({ model: 'm', messages, tools, ...more })).text()
    return upstream.body() as Record<string, unknown>
  }

  test('of the Messages API is marked in the same places', async () => {
    const body = await sent(configOf())
    expect(JSON.stringify(body).split(markText)).toHaveLength(5)
    expect(body).toMatchObject({
      tools: [{ name: 'f', cache_control: mark }],
      system: [{ text: 'Be brief', cache_control: mark }],
    })
    expect(
      (body['messages'] as { content: unknown }[]).map(({ content }) =>
        JSON.stringify(content).includes(markText),
      ),
    ).toEqual([false, false, true, false, true])
  })

  test('of Bedrock gets cache points', async () => {
    const body = await sent(bedrock)
    const point = { cachePoint: { type: 'default' } }
    expect(body).toMatchObject({
      toolConfig: { tools: [{ toolSpec: { name: 'f' } }, point] },
      system: [{ text: 'Be brief' }, point],
      messages: [
        { content: [{ text: 'one' }] },
        {},
        { content: [{ text: 'two' }, point] },
        {},
        { content: [{ text: 'three' }, point] },
      ],
    })
  })

  test('with a mark of the client has no other', async () => {
    const own = [{ role: 'user', content: [{ type: 'text', text: 'x', cache_control: mark }] }]
    expect(JSON.stringify(await sent(configOf(), { messages: own })).split(markText)).toHaveLength(
      2,
    )
    expect(JSON.stringify(await sent(bedrock, { messages: own })).split('cachePoint')).toHaveLength(
      2,
    )
  })
})

test('a marked prompt is reserved as a write, and explain shows it with its marks', async () => {
  const gateway = await keyedGateway(configOf())
  const body = { model: 'm', max_tokens: 10, messages: [{ role: 'user', content: 'Hi' }] }
  const question = { path: '/v1/messages', body }
  const { links, reservation } = (await gateway.admin('POST', '/admin/explain', question)).body as {
    links: { prompt_price: string; upstream: { body: object } }[]
    reservation: number
  }
  expect(links[0]?.prompt_price).toBe('cost_per_1m_cache_write')
  expect(JSON.stringify(links[0]?.upstream.body)).toContain(markText)
  const plain = await keyedGateway(configOf(''))
  const before = (await plain.admin('POST', '/admin/explain', question)).body[
    'reservation'
  ] as number
  expect(reservation).toBeGreaterThan(before)
})

describe('explain lists where the gateway marks', () => {
  const turns = [
    { role: 'user', content: 'one' },
    { role: 'assistant', content: '1' },
    { role: 'user', content: 'two' },
  ]
  const messages = {
    model: 'm',
    max_tokens: 10,
    system: 'Be brief',
    tools: [tool('a'), tool('b')],
    messages: turns,
  }
  const own = { role: 'user', content: [text('x', { cache_control: mark })] }
  const places = ['tools.1', 'system.0', 'messages.0.content.0', 'messages.2.content.0']

  test.each<[string, string, string, object, readonly string[] | null]>([
    ['a native body', configOf(), '/v1/messages', messages, places],
    [
      'a translated body',
      configOf(),
      '/v1/chat/completions',
      { model: 'm', messages: turns },
      ['messages.0.content.0', 'messages.2.content.0'],
    ],
    [
      'a body of Converse',
      bedrock,
      '/v1/messages',
      messages,
      ['toolConfig.tools.2', 'system.1', 'messages.0.content.1', 'messages.2.content.1'],
    ],
    [
      'a body with a mark of its own',
      configOf(),
      '/v1/messages',
      { ...messages, messages: [own] },
      [],
    ],
    ['a model without the setting', configOf(''), '/v1/messages', messages, null],
    ['a body that no link gets', configOf(), '/v1/messages', { ...messages, messages: 5 }, null],
  ])('%s', async (_, config, path, body, expected) => {
    const gateway = await keyedGateway(config, {
      env: { P_KEY: 'k', GATEWAY_MASTER_KEY: masterKey, AWS_REGION: 'us-east-1' },
    })
    const { body: shown } = await gateway.admin('POST', '/admin/explain', { path, body })
    const [link] = shown['links'] as { cache_marks: unknown }[]
    expect(link?.cache_marks ?? null).toEqual(expected)
  })
})

test('a count has no marks', async () => {
  const { get, upstream } = await watchedGateway(configOf())
  upstream.always(json({ input_tokens: 3 }))
  const sent = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'x' }] })
  await (await get('/v1/messages/count_tokens', { method: 'POST', body: sent })).text()
  expect(upstream.text()).toBe(sent.replace('"m"', '"claude-opus-5"'))
})

test.each([
  ['openai', 'gpt', 'is for models of Claude, which kind "openai" does not serve'],
  [
    'openrouter',
    'anthropic/claude-opus-5',
    'is for models of Claude, which kind "openrouter" does not serve',
  ],
  ['vertex_ai', 'gemini-3-pro', 'is for models of Claude, which kind "vertex_ai" does not serve'],
  [
    'bedrock',
    'amazon.nova-2-lite-v1:0',
    'is for models of Claude, which "amazon.nova-2-lite-v1:0" is not',
  ],
])('kind %s is refused at the start', async (kind, upstreamId, message) => {
  await expect(testGateway(configOf('cache_marks = "auto"', kind, upstreamId))).rejects.toThrow(
    `providers[0].models[0].cache_marks (line 16): ${message}`,
  )
})

/** Bodies of both APIs, with texts that look like marks and places that have none. */
const content = fc.oneof(
  fc.string(),
  fc.array(
    fc.oneof(
      fc.record({ type: fc.constant('text'), text: fc.string() }),
      fc.record({
        type: fc.constantFrom('image', 'tool_result', 'thinking'),
        content: fc.string(),
      }),
    ),
    { maxLength: 3 },
  ),
)
const drawnBody = fc.record(
  {
    tools: fc.array(fc.record({ name: fc.string(), input_schema: fc.jsonValue({ maxDepth: 2 }) }), {
      maxLength: 3,
    }),
    system: content,
    messages: fc.array(fc.record({ role: fc.constantFrom('user', 'assistant'), content }), {
      maxLength: 6,
    }),
    metadata: fc.jsonValue({ maxDepth: 2 }),
  },
  { requiredKeys: ['messages'] },
)

test('a marked body without its marks is the body, and it has four marks at most', () => {
  const strip = (value: unknown): unknown => {
    if (Array.isArray(value)) {
      return value
        .filter((one) => !(one && typeof one === 'object' && 'cachePoint' in one))
        .map(strip)
    }
    if (typeof value !== 'object' || value === null) return value
    return Object.fromEntries(
      Object.entries(value)
        .filter(([name]) => name !== 'cache_control')
        .map(([name, one]) => [name, strip(one)]),
    )
  }
  /** A text and a list with this text alone are the same. */
  const unify = (value: unknown) =>
    JSON.parse(JSON.stringify(value), (name, one) =>
      (name === 'content' || name === 'system') && typeof one === 'string' && one.trim() !== ''
        ? [{ type: 'text', text: one }]
        : one,
    ) as unknown
  fc.assert(
    fc.property(
      drawnBody,
      fc.boolean(),
      fc.constantFrom(markMessages, markConverse),
      (body, isSpaced, change) => {
        const sent = JSON.stringify(body, null, isSpaced ? 1 : 0)
        const result = new TextDecoder().decode(change(new TextEncoder().encode(sent)))
        const { messages, system, tools } = JSON.parse(result) as typeof body
        const count =
          JSON.stringify([messages, system, tools]).split(
            /"cache_control":\{"type":"ephemeral"\}|"cachePoint":\{"type":"default"\}/,
          ).length - 1
        expect(count).toBeLessThanOrEqual(4)
        expect(unify(strip(JSON.parse(result)))).toEqual(unify(strip(body)))
      },
    ),
    { numRuns: 2000 },
  )
})
