import { describe, expect, test } from 'vitest'
import { completion, wholeStream } from '../support/answers.ts'
import { byProvider, called } from '../support/chain.ts'
import { expectErrorShape } from '../support/contract.ts'
import { errorIn, keyedGateway, prompt, used } from '../support/keyed-gateway.ts'
import { reloadingGateway } from '../support/reloading-gateway.ts'
import { broken, json, stream } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const answer = json(completion())
const png = 'data:image/png;base64,iVBORw0KGgo='

interface SwitchSettings {
  readonly cases: readonly string[]
  readonly byDefault?: string
  /** Further settings of the models, in TOML's inline form. */
  readonly models?: Readonly<Record<string, string>>
  readonly kinds?: Readonly<Record<string, string>>
  readonly routes?: string
}

/**
 * A configuration with a switch `s` over models `a`, `b`, `c` and `d` of providers with the same names, each at
 * `https://a.test`, … A case is written as `stream = true -> a`.
 */
function makeSwitch({
  cases,
  byDefault = 'd',
  models = {},
  kinds = {},
  routes = '',
}: SwitchSettings): string {
  const providers = ['a', 'b', 'c', 'd'].map(
    (id) => `
      [[providers]]
      name = "${id}"
      kind = "${kinds[id] ?? 'openai'}"
      api_key_env = "P_KEY"
      base_url = "https://${id}.test"
      models = [{ id = "${id}", ${models[id] ?? 'capabilities = ["chat"]'} }]
    `,
  )
  const written = cases.map((one) => {
    const [when, target] = one.split(' -> ')
    return `{ when = { ${when} }, target = "${target}" }`
  })
  return `[resilience]\nretry_max_attempts = 1\n${providers.join('')}
    ${routes}
    [[routes]]
    id = "s"
    strategy = "switch"
    default = "${byDefault}"
    cases = [${written.join(', ')}]
  `
}

const ask = (more: object = {}) => ({
  model: 's',
  messages: [{ role: 'user', content: 'Hi' }],
  ...more,
})

/** Sends requests and returns the providers that were called. */
async function servedBy(config: string, ...bodies: readonly object[]): Promise<string> {
  const { chat, upstream } = await watchedGateway(config)
  upstream.always(async (request) =>
    new TextDecoder().decode(request.body).includes('"stream":true')
      ? stream([wholeStream])(request)
      : answer(request),
  )
  for (const body of bodies) await (await chat(ask(body))).text()
  return called(upstream).join('')
}

describe('a switch', () => {
  test('the first case that holds decides, and otherwise the default serves', async () => {
    const config = makeSwitch({
      cases: [
        'stream = true, has_tools = true -> a',
        'stream = true -> b',
        'has_tools = true -> c',
      ],
    })
    const tools = [{ type: 'function', function: { name: 'f', parameters: {} } }]
    const bodies = [{}, { stream: true }, { tools }, { tools, stream: true }, { tools: [] }]
    expect(await servedBy(config, ...bodies)).toBe('dbcad')
  })

  test('a target serves with its own fallbacks', async () => {
    const config = makeSwitch({
      cases: ['stream = false -> a'],
      models: { a: 'fallbacks = ["b"]' },
    })
    const { chat, upstream } = await watchedGateway(config)
    byProvider(upstream, { a: broken(), b: answer })
    const response = await chat(ask())
    expect(response.headers.get('x-gateway-model-used')).toBe('b')
    expect(called(upstream)).toEqual(['a', 'b'])
  })

  test('targets may be routes and switches', async () => {
    const routes = `
      [[routes]]
      id = "inner"
      strategy = "switch"
      default = "pool"
      cases = [{ when = { has_tools = true }, target = "b" }]
      [[routes]]
      id = "pool"
      strategy = "weighted"
      targets = [{ model = "c", weight = 1 }, { model = "d", weight = 0 }]
    `
    const config = makeSwitch({ cases: ['stream = false -> inner'], byDefault: 'a', routes })
    const tools = [{ type: 'function', function: { name: 'f' } }]
    expect(await servedBy(config, {}, { tools }, { stream: true })).toBe('cba')
  })

  test('a target may be an id that only a pattern serves', async () => {
    const provider = `
      [[providers]]
      name = "e"
      kind = "openai"
      api_key_env = "P_KEY"
      base_url = "https://e.test"
      models = [{ id = "e-*", fallbacks = ["b"] }]
    `
    const config = provider + makeSwitch({ cases: ['stream = false -> e-mini'] })
    const { chat, upstream } = await watchedGateway(config)
    byProvider(upstream, { e: broken(), b: answer })
    expect((await chat(ask())).headers.get('x-gateway-model-used')).toBe('b')
    expect(called(upstream)).toEqual(['e', 'b'])
  })

  test('its capabilities and modalities are those that any target has, and the target is judged', async () => {
    const config = makeSwitch({
      cases: [
        'api = "embeddings" -> a',
        'api = ["responses"] -> c',
        'has_images = true, stream = false -> b',
      ],
      models: { b: 'modalities = ["text", "image"]', c: 'capabilities = ["embed"]' },
    })
    const { chat, get, upstream } = await watchedGateway(config)
    const post = (path: string, body: object) =>
      get(path, { method: 'POST', body: JSON.stringify(body) })
    expect(await (await get('/v1/models/s')).json()).toEqual({
      id: 's',
      object: 'model',
      created: 1_764_000_000,
      owned_by: 'gateway',
      capabilities: ['chat', 'embed'],
      modalities: ['text', 'image'],
    })
    expect(
      await expectErrorShape(await post('/v1/embeddings', { model: 's', input: 'x' })),
    ).toMatchObject({
      code: 'LM-2002',
      param: 'model',
      message: 'model s serves this request by a, which does not have the capability embed',
    })
    expect(
      (await (await post('/v1/responses', { model: 's', input: 'x' })).json()).error.code,
    ).toBe('LM-2002')
    const image = { content: [{ type: 'image_url', image_url: { url: png } }], role: 'user' }
    upstream.always(answer)
    expect((await chat(ask({ messages: [image] }))).status).toBe(200)
    const refused = await chat(ask({ messages: [image], stream: true }))
    expect(await expectErrorShape(refused)).toMatchObject({ code: 'LM-2003' })
    expect(called(upstream)).toEqual(['b'])
  })

  test('the lists of all APIs have it, for those who may use it', async () => {
    const config = makeSwitch({
      cases: ['stream = true -> a'],
      models: { a: 'max_output_tokens = 9' },
    })
    const { key, get } = await keyedGateway(config)
    const { headers } = await key({ models: ['s'] })
    const read = async (path: string, more: object = {}) =>
      JSON.stringify(await (await get(path, { headers: { ...headers, ...more } })).json())
    expect(await read('/v1/models')).toMatch(/"id":"s"/)
    expect(await read('/v1/models', { 'anthropic-version': '2023-06-01' })).toMatch(/"id":"s"/)
    expect(await read('/v1beta/models', { 'x-goog-api-client': 'x' })).toMatch(/"models\/s"/)
  })
})

describe('what cases read', () => {
  test('the key and the group; a key that may use the switch needs no more', async () => {
    const gateway = await reloadingGateway(makeSwitch({ cases: ['stream = true -> a'] }))
    const group = await gateway.group()
    const mine = await gateway.key({ models: ['s'] })
    const theirs = await gateway.key({ models: ['s'], group_id: group })
    const other = await gateway.key({ models: ['s'] })
    await gateway.change(
      makeSwitch({ cases: [`key = "${mine.id}" -> a`, `group = ["${group}"] -> b`] }),
    )
    gateway.upstream.always(answer)
    for (const [key, provider] of [
      [mine, 'a'],
      [theirs, 'b'],
      [other, 'd'],
    ] as const) {
      const { status, headers } = await gateway.ask(key, ask())
      expect([status, headers.get('x-gateway-provider')]).toEqual([200, provider])
    }
    const refused = await gateway.ask(mine, { ...ask(), model: 'a' })
    expect(errorIn(refused)).toMatchObject({ code: 'LM-4005' })
  })

  test('metadata, by value and type', async () => {
    const config = makeSwitch({
      cases: [
        'metadata.team = ["x", "y"] -> a',
        'metadata.tier = 3 -> b',
        'metadata.valueOf = "z" -> c',
      ],
    })
    const { chat, upstream } = await watchedGateway(config)
    upstream.always(answer)
    const given: readonly object[] = [
      { team: 'y' },
      { tier: 3 },
      { tier: '3' },
      { team: 'z' },
      { valueOf: 'z' },
    ]
    for (const metadata of given) {
      await chat(ask(), { headers: { 'x-gateway-metadata': JSON.stringify(metadata) } })
    }
    await chat(ask())
    expect(called(upstream).join('')).toBe('abddcd')
  })

  test('the estimated tokens of the prompt', async () => {
    const config = makeSwitch({
      cases: [
        'input_tokens = { below = 20 } -> a',
        'input_tokens = { above = 20, below = 31 } -> b',
      ],
    })
    const lengths = [8, 19, 20, 21, 30, 31].map((tokens) => prompt(tokens, { model: 's' }))
    expect(await servedBy(config, ...lengths)).toBe('aadbbd')
  })

  test('hours of a day, in their time zone', async () => {
    const config = makeSwitch({
      cases: ['hours = ["22:00-06:00"], days = ["fri"], time_zone = "Europe/Berlin" -> a'],
    })
    // The clock starts on Monday, 2025-11-24 at 16:00 UTC.
    const { chat, upstream, clock } = await watchedGateway(config)
    upstream.always(answer)
    const day = 24 * 3_600_000
    const at = async (millis: number) => {
      await clock.advance(Date.UTC(2025, 10, 28) + millis - clock.now())
      await chat(ask())
    }
    await at(21 * 3_600_000 - 1)
    await at(21 * 3_600_000)
    await at(day + 5 * 3_600_000 - 1)
    await at(day + 5 * 3_600_000)
    await at(day + 22 * 3_600_000)
    expect(called(upstream).join('')).toBe('daadd')
  })

  test('the spent part of the budget of the key or the group, and of none', async () => {
    const config = makeSwitch({
      cases: ['budget_used = { above = 0.5 } -> a'],
      models: { d: 'cost_per_1m_input = 1, cost_per_1m_output = 0' },
    })
    const gateway = await keyedGateway(config)
    gateway.upstream.always(used(500_000, 1))
    const group = await gateway.group({ budget_max: 2 })
    const key = await gateway.key({ budget_max: 1.9 })
    const member = await gateway.key({ group_id: group, budget_max: 100 })
    const free = await gateway.key()
    const serving = async (who: typeof key) =>
      (await gateway.ask(who, ask())).headers.get('x-gateway-provider')
    expect([await serving(key), await serving(key), await serving(key)]).toEqual(['d', 'd', 'a'])
    for (const expected of ['d', 'd', 'd', 'a']) expect(await serving(member)).toBe(expected)
    expect([await serving(free), await serving(free), await serving(free)]).toEqual(['d', 'd', 'd'])
    await serving(await gateway.key({ budget_max: 0 }))
    const lines = gateway.log.filter(({ message }) => message === 'request')
    expect(lines.at(-1)?.fields['switched_to']).toBe('a')
  })

  test('a budget whose term is over counts as unspent', async () => {
    const config = makeSwitch({
      cases: ['budget_used = { above = 0.5 } -> a'],
      models: { d: 'cost_per_1m_input = 1' },
    })
    const gateway = await keyedGateway(config)
    gateway.upstream.always(used(900_000))
    const key = await gateway.key({ budget_max: 1, budget_period: 'day' })
    const serving = async () => (await gateway.ask(key, ask())).headers.get('x-gateway-provider')
    expect([await serving(), await serving()]).toEqual(['d', 'a'])
    await gateway.clock.advance(8 * 3_600_000)
    expect(await serving()).toBe('d')
  })
})

const tool = { name: 'f', input_schema: { type: 'object' } }
const text = (value: string) => ({ type: 'text', text: value })

/** Requests of each API with what the conditions ask for. */
const contents: readonly (readonly [string, string, object, string])[] = [
  [
    '/v1/chat/completions',
    '',
    { messages: [{ role: 'user', content: 'the word "image" and \\u0066ile' }] },
    '',
  ],
  [
    '/v1/chat/completions',
    'a picture',
    { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: png }] }] },
    'image',
  ],
  [
    '/v1/chat/completions',
    'a file',
    { messages: [{ role: 'user', content: [{ type: 'file', file: { file_data: 'x' } }] }] },
    'file',
  ],
  [
    '/v1/chat/completions',
    'audio',
    { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] },
    'file',
  ],
  [
    '/v1/chat/completions',
    'functions',
    { messages: [{ role: 'user', content: 'x' }], functions: [{ name: 'f' }] },
    'tool',
  ],
  [
    '/v1/messages',
    'a result',
    {
      max_tokens: 9,
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'tool_result',
              tool_use_id: 'x',
              content: [
                {
                  type: 'image',
                  source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' },
                },
              ],
            },
          ],
        },
      ],
    },
    'image',
  ],
  [
    '/v1/messages',
    'a stored picture',
    {
      max_tokens: 9,
      messages: [
        { role: 'user', content: [{ type: 'image', source: { type: 'file', file_id: 'x' } }] },
      ],
    },
    'image',
  ],
  [
    '/v1/messages',
    'a document',
    {
      max_tokens: 9,
      tools: [tool],
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'document',
              source: {
                type: 'content',
                content: [
                  text('x'),
                  { type: 'image', source: { type: 'url', url: 'https://a.test' } },
                ],
              },
            },
          ],
        },
      ],
    },
    'tool image file',
  ],
  [
    '/v1/messages',
    'an argument',
    {
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'x' },
        {
          role: 'assistant',
          content: [
            {
              type: 'tool_use',
              id: 'x',
              name: 'f',
              input: { type: 'file', content: [{ type: 'image' }] },
            },
          ],
        },
      ],
    },
    '',
  ],
  [
    '/v1/responses',
    'a picture',
    { input: [{ role: 'user', content: [{ type: 'input_image', image_url: png }] }] },
    'image',
  ],
  [
    '/v1/responses',
    'an output',
    {
      input: [
        {
          type: 'function_call_output',
          call_id: 'x',
          output: [{ type: 'input_file', file_url: 'https://a.test' }],
        },
      ],
    },
    'file',
  ],
  [
    '/v1/responses',
    'a late tool',
    {
      input: [
        { type: 'additional_tools', tools: [{ type: 'function', name: 'f' }] },
        { role: 'user', content: 'x' },
      ],
    },
    'tool',
  ],
  [
    '/v1beta/models/s:generateContent',
    'a picture',
    {
      contents: [
        { role: 'user', parts: [{ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }] },
      ],
    },
    'image',
  ],
  [
    '/v1beta/models/s:generateContent',
    'a film',
    {
      tools: [{ functionDeclarations: [{ name: 'f' }] }],
      contents: [{ parts: [{ file_data: { mime_type: 'video/mp4', file_uri: 'x' } }] }],
    },
    'tool file',
  ],
  [
    '/v1beta/models/s:countTokens',
    'a count',
    {
      generateContentRequest: {
        model: 'models/s',
        tools: [{ functionDeclarations: [{ name: 'f' }] }],
        contents: [{ parts: [{ inlineData: { mimeType: 'image/png', data: 'x' } }] }],
      },
    },
    'tool image',
  ],
  [
    '/v1/embeddings',
    'a picture',
    { input: [[text('x'), { type: 'image_url', image_url: { url: png } }]] },
    'image',
  ],
  ['/v1/rerank', 'documents', { query: 'q', documents: ['file', 'image'] }, ''],
  ['/v1/completions', 'a text', { prompt: 'document' }, ''],
]

test.each(contents)('%s: tools, images and files are found in %s', async (path, _, body, found) => {
  const everything = 'capabilities = ["chat", "embed", "rerank"], modalities = ["text", "image"]'
  const names = ['a', 'b', 'c', 'd']
  for (const [kind, target] of [
    ['tool', 'a'],
    ['image', 'b'],
    ['file', 'c'],
  ] as const) {
    const config = makeSwitch({
      cases: [`has_${kind}s = true -> ${target}`],
      models: Object.fromEntries(names.map((name) => [name, everything])),
      kinds: Object.fromEntries(names.map((name) => [name, 'vllm'])),
    })
    const gateway = await keyedGateway(config)
    gateway.upstream.always(broken())
    const sent = path.includes('s:') ? body : { model: 's', ...body }
    if (path.endsWith('countTokens')) {
      // Counts have no record; without an upstream that counts, only the way there is the same.
      const { status } = await gateway.ask(await gateway.key(), sent, path)
      expect(status).toBe(200)
      continue
    }
    await gateway.ask(await gateway.key(), sent, path)
    const line = gateway.log.find(({ message }) => message === 'request')
    expect(line?.fields['switched_to'], kind).toBe(found.split(' ').includes(kind) ? target : 'd')
  }
})

describe('what is shown of a switch', () => {
  const models = { a: 'cost_per_1m_input = 1, cost_per_1m_output = 1' }
  const config = makeSwitch({
    cases: ['metadata.team = "x", input_tokens = { below = 9 } -> a', 'stream = true -> b'],
    models,
  })

  test('explain says which case held, and why the others did not', async () => {
    const gateway = await keyedGateway(config)
    const explain = async (more: object) =>
      (await gateway.admin('POST', '/admin/explain', { path: '/v1/chat/completions', ...more }))
        .body
    const team = { name: 'metadata.team', value: 'x', holds: true }
    expect(await explain({ body: ask(), metadata: { team: 'x' } })).toMatchObject({
      route: {
        id: 's',
        order: ['a'],
        switches: [
          {
            id: 's',
            target: 'a',
            cases: [
              {
                target: 'a',
                holds: true,
                conditions: [team, { name: 'input_tokens', value: 8, holds: true }],
              },
            ],
          },
        ],
      },
    })
    expect(
      await explain({ body: ask(prompt(9, { model: 's' })), metadata: { team: 'x' } }),
    ).toMatchObject({
      route: {
        order: ['d'],
        switches: [
          {
            target: 'd',
            cases: [
              {
                target: 'a',
                holds: false,
                conditions: [team, { name: 'input_tokens', value: 9, holds: false }],
              },
              {
                target: 'b',
                holds: false,
                conditions: [{ name: 'stream', value: false, holds: false }],
              },
            ],
          },
        ],
      },
    })
    expect(await explain({ body: { ...ask(), model: 'a' } })).toMatchObject({
      route: { id: 'a', switches: [] },
    })
    expect(await explain({ body: ask(), metadata: { team: ['x'] } })).toMatchObject({
      error: { code: 'LM-1001', param: 'metadata.team' },
    })
  })

  test('the row, the log, the metrics and the list of routes', async () => {
    const gateway = await keyedGateway(config)
    gateway.upstream.always(used(5, 5))
    const headers = { 'x-gateway-metadata': '{"team":"x"}', ...(await gateway.key()).headers }
    await gateway.chat(ask(), { headers })
    expect(await gateway.rows()).toMatchObject([
      { model: 's', modelUsed: 'a', provider: 'a', cost: 10_000n },
    ])
    expect(gateway.log.find(({ message }) => message === 'request')?.fields).toMatchObject({
      model: 's',
      switched_to: 'a',
      model_used: 'a',
    })
    expect(await (await gateway.get('/metrics')).text()).toContain(
      'gateway_switched_total{route="s",target="a"} 1',
    )
    expect((await gateway.admin('GET', '/admin/routes')).body).toEqual({
      routes: [
        {
          id: 's',
          strategy: 'switch',
          affinity: 'off',
          affinity_ttl_seconds: null,
          fallback_on: null,
          cases: [
            { target: 'a', conditions: ['metadata.team', 'input_tokens'] },
            { target: 'b', conditions: ['stream'] },
          ],
          default: 'd',
          targets: [],
          fallbacks: [],
        },
      ],
    })
  })

  test('a reload changes the cases, and keeps when an unchanged one was created', async () => {
    const { chat, change, upstream, key, get, clock } = await reloadingGateway(config)
    upstream.always(answer)
    const { headers } = await key()
    const created = async () =>
      ((await (await get('/v1/models/s', { headers })).json()) as { created: number }).created
    const first = await created()
    await clock.advance(60_000)
    await change(`${config}\n`)
    expect(await created()).toBe(first)
    await change(config.replace('"x"', '"y"'))
    expect(await created()).toBe(first + 60)
    await chat(ask(), { headers: { ...headers, 'x-gateway-metadata': '{"team":"y"}' } })
    expect(called(upstream)).toEqual(['a'])
  })
})

test('the cache has the answers of the target, and a switch chooses again for the same bytes', async () => {
  const config = `${makeSwitch({
    cases: ['hours = ["17:00-24:00"] -> b'],
    models: { b: 'cache = true', d: 'cache = true' },
  })}\n[cache]\nenabled = true\n`
  const { chat, upstream, clock } = await watchedGateway(config)
  upstream.always(answer)
  const results: (string | null)[] = []
  const send = async (body: object) =>
    results.push((await chat(body)).headers.get('x-gateway-cache'))
  await send(ask())
  await send(ask())
  await send({ ...ask(), model: 'd' })
  await clock.advance(2 * 3_600_000)
  await send(ask())
  expect(results).toEqual(['miss', 'hit', 'hit', 'miss'])
  expect(called(upstream)).toEqual(['d', 'b'])
})

test('a session stays at the target of the route that a switch has chosen', async () => {
  const routes = `
    [[routes]]
    id = "pool"
    strategy = "weighted"
    targets = [{ model = "a" }, { model = "b" }, { model = "c" }]
  `
  const config = makeSwitch({ cases: ['stream = true -> d'], byDefault: 'pool', routes })
  let at = 0
  const { chat, upstream } = await watchedGateway(config, { random: () => (at++ * 0.37) % 1 })
  upstream.always(answer)
  for (let turn = 0; turn < 8; turn++) await chat(ask(), { headers: { 'x-gateway-session': 'x' } })
  expect(new Set(called(upstream)).size).toBe(1)
})
