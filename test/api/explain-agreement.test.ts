import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import type { UpstreamPort, UpstreamRequest } from '../../src/index.ts'
import { completion } from '../support/answers.ts'
import { testGateway } from '../support/gateway.ts'
import { masterKey } from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { MemoryStore } from '../support/memory-store.ts'
import { json } from '../support/scripted-upstream.ts'
import { randomFrom } from '../support/seeded-random.ts'

/** Gateways, each with several requests. `EXPLAIN_RUNS` sets another number. */
const runs = Number(process.env['EXPLAIN_RUNS'] ?? 60)

/** A provider for each way to send a request, with a model for each of its capabilities. */
const providers = [
  { name: 'p1', kind: 'openai', keys: ['A', 'B'], models: { c1: 'chat', e1: 'embed' } },
  { name: 'p2', kind: 'anthropic', keys: ['C'], models: { c2: 'chat' } },
  { name: 'p3', kind: 'google', keys: ['A', 'B'], models: { c3: 'chat', e3: 'embed' } },
  {
    name: 'p4',
    kind: 'cohere',
    keys: ['D'],
    models: { c4: 'chat', e4: 'embed', r4: 'rerank' },
  },
  { name: 'p5', kind: 'jina', keys: ['C'], models: { r5: 'rerank' } },
] as const

const chatModels = ['c1', 'c2', 'c3', 'c4'] as const

/** A canary of each credential; `D` is missing in some configurations. */
const env = { A: 'canary-key-a-00001', B: 'canary-key-b-00002', C: 'canary-key-c-00003' }

const anyPrice = fc.constantFrom(0, 0.5, 3)
const anyModel = fc.record({
  input: anyPrice,
  output: anyPrice,
  bound: fc.option(fc.constantFrom(64, 4_000), { nil: undefined }),
})
const anyStrategy = fc.constantFrom('weighted', 'fastest', 'cheapest', 'least_busy')

const anyConfig = fc.record({
  models: fc.array(anyModel, { minLength: 9, maxLength: 9 }),
  strict: fc.array(fc.boolean(), { minLength: 5, maxLength: 5 }),
  hasD: fc.boolean(),
  fallbacks: fc.shuffledSubarray(['c2', 'c3', 'c4']),
  strategies: fc.tuple(anyStrategy, anyStrategy),
  weights: fc.array(fc.integer({ min: 0, max: 3 }), { minLength: 3, maxLength: 3 }),
  targets: fc.shuffledSubarray([...chatModels], { minLength: 3, maxLength: 3 }),
  seed: fc.nat(),
})
type Setup = typeof anyConfig extends fc.Arbitrary<infer Value> ? Value : never

/** A limit that is absent more often than not: any of them refuses every further request. */
const anyLimit = <Value>(...values: readonly Value[]) =>
  fc.option(fc.constantFrom(...values), { nil: null, freq: 1 })
const rarely = <Value>(...values: readonly Value[]) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(null) }, fc.constantFrom(...values))
const anyLimits = fc.record({
  budget_max: anyLimit(1, 1, 1, 0.002, 0.0004, 0),
  rpm_limit: rarely(2, 4),
  tpm_limit: rarely(60, 700, 5_000),
  max_parallel: rarely(0, 1),
  models: rarely(['c*', 'x'], ['y', 'e*']),
})

const anyAsked = fc.record({
  path: fc.constantFrom(
    '/v1/chat/completions',
    '/v1/chat/completions',
    '/v1/messages?beta=true',
    '/v1/responses',
    '/v1/completions',
    '/v1/embeddings',
    '/rerank',
    '/openai/deployments/x/chat/completions',
  ),
  model: fc.constantFrom(
    'c1',
    'c1',
    'c2',
    'c3',
    'x',
    'x',
    'y',
    'y',
    'e1',
    'e3',
    'e4',
    'r4',
    'r5',
    'no',
  ),
  bound: fc.constantFrom(undefined, 16, 200),
  stream: fc.constantFrom(undefined, undefined, true),
  twist: fc.oneof(
    { weight: 4, arbitrary: fc.constant('none') },
    { weight: 2, arbitrary: fc.constant('dropped') },
    fc.constantFrom('inexpressible', 'invalid', 'image'),
  ),
  fits: fc.constantFrom(true, true, true, true, false),
  /** What each provider answers, from the first to the last. */
  fates: fc.array(fc.constantFrom('ok', 'ok', 'ok', 'ok', '500', '429', '401'), {
    minLength: 5,
    maxLength: 5,
  }),
  isHeld: fc.constantFrom(false, false, false, true),
  wait: fc.constantFrom(0, 0, 1_000, 40_000),
})
type Asked = typeof anyAsked extends fc.Arbitrary<infer Value> ? Value : never

function writeConfig(setup: Setup): string {
  let at = 0
  const tables = providers.map(({ name, kind, keys, models }, index) => {
    const entries = Object.entries(models).map(([id, capability]) => {
      const { input, output, bound } = setup.models[at++] as Setup['models'][number]
      const prices = `cost_per_1m_input = ${input}, cost_per_1m_output = ${output}`
      const limit =
        bound === undefined || capability !== 'chat' ? '' : `, max_output_tokens = ${bound}`
      const fallbacks = id === 'c1' ? `, fallbacks = ${JSON.stringify(setup.fallbacks)}` : ''
      const images = id === 'c1' || id === 'c2' ? ', modalities = ["text", "image"]' : ''
      return `{ id = "${id}", upstream_id = "up-${id}", capabilities = ["${capability}"], ${prices}${limit}${images}${fallbacks} }`
    })
    return `
      [[providers]]
      name = "${name}"
      kind = "${kind}"
      base_url = "https://${name}.test"
      api_key_envs = ${JSON.stringify(keys)}
      strict = ${setup.strict[index]}
      models = [${entries.join(', ')}]`
  })
  const weights = setup.weights.every((weight) => weight === 0) ? [1, 0, 0] : setup.weights
  const targets = setup.targets.map(
    (model, index) => `{ model = "${model}", weight = ${weights[index]} }`,
  )
  const last = chatModels.filter((model) => !setup.targets.includes(model))
  const routes = ['x', 'y'].map(
    (id, index) => `
      [[routes]]
      id = "${id}"
      strategy = "${setup.strategies[index]}"
      targets = [${targets.join(', ')}]
      fallbacks = ${JSON.stringify(last)}`,
  )
  return `
    [auth]
    enabled = true
    reserve_output_tokens = 300
    [resilience]
    retry_max_attempts = 1
    circuit_failure_threshold = 1
    circuit_cooldown_ms = 30000
    ${tables.join('')}
    ${routes.join('')}`
}

/** Writes a request that belongs to its path, or does not when `fits` is false. */
function writeRequest({ path, model, bound, stream, twist }: Asked): Record<string, unknown> {
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } }
  const content = twist === 'image' ? [{ type: 'text', text: 'See' }, image] : 'How are you today?'
  const odd = twist === 'inexpressible' ? { type: 'strange_part', text: 'x' } : undefined
  const messages = [{ role: 'user', content: odd ? [odd] : content }]
  const dropped = twist === 'dropped' ? { logit_bias: { 7: 1 }, service_tier: 'flex' } : {}
  const common = { model, ...(stream && { stream }), ...dropped }
  if (twist === 'invalid') return { ...common, messages: 7, input: 7, prompt: 7, query: 7 }
  if (path.startsWith('/v1/messages')) {
    const text = [{ type: 'text', text: 'How are you?', cache_control: { type: 'ephemeral' } }]
    const tools =
      twist === 'dropped' ? [{ type: 'web_search_20250305', name: 'web_search' }] : undefined
    return {
      model,
      max_tokens: bound ?? 50,
      messages: [{ role: 'user', content: odd ? [odd] : text }],
      ...(stream && { stream }),
      ...(tools && { tools }),
    }
  }
  if (path === '/v1/responses') {
    return {
      ...common,
      input: 'How are you?',
      ...(bound && { max_output_tokens: bound }),
      ...(twist === 'inexpressible' && { previous_response_id: 'resp_1' }),
    }
  }
  if (path === '/v1/completions')
    return { ...common, prompt: 'Once', ...(bound && { max_tokens: bound }) }
  if (path === '/v1/embeddings') {
    const input = twist === 'inexpressible' ? [1, 2, 3] : ['one', 'two']
    return { model, input, ...(twist === 'dropped' && { dimensions: 8 }) }
  }
  if (path === '/rerank')
    return { model, query: 'q', documents: twist === 'image' ? [] : ['a', 'b'] }
  return { ...common, messages, ...(bound && { max_tokens: bound }) }
}

/** Most requests name a model that can serve their path. */
function fitModel(asked: Asked): Asked {
  if (!asked.fits) return asked
  const ids =
    asked.path === '/v1/embeddings'
      ? ['e1', 'e3', 'e4']
      : asked.path === '/rerank'
        ? ['r4', 'r5']
        : ['c1', 'c2', 'c3', 'x', 'y']
  const at = asked.model.charCodeAt(0) + asked.model.length + (asked.bound ?? 0)
  return { ...asked, model: (ids[at % ids.length] ?? 'c1') as Asked['model'] }
}

const answers: Readonly<Record<string, (request: UpstreamRequest) => unknown>> = {
  p1: ({ url }) => {
    if (url.includes('/embeddings')) return vectors((index, embedding) => ({ index, embedding }))
    const { usage: _, ...chat } = completion() as Record<string, unknown>
    return chat
  },
  p2: () => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'up-c2',
    content: [{ type: 'text', text: 'Hi' }],
    stop_reason: 'end_turn',
    usage: { input_tokens: 4, output_tokens: 2 },
  }),
  p3: () => ({
    candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 2, totalTokenCount: 6 },
  }),
  p4: ({ url }) =>
    url.includes('rerank')
      ? { results: [{ index: 0, relevance_score: 1 }], meta: {} }
      : {
          id: 'a1',
          finish_reason: 'COMPLETE',
          message: { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] },
          embeddings: { float: [[1], [2]] },
        },
  p5: () => ({ results: [{ index: 0, relevance_score: 1 }], usage: { total_tokens: 3 } }),
}

function vectors(render: (index: number, embedding: number[]) => object): object {
  return { object: 'list', data: [render(0, [1]), render(1, [2])], usage: { prompt_tokens: 4 } }
}

interface ExplainedLink {
  readonly model: string
  readonly provider: string
  readonly credential: string
  readonly circuit: string
  readonly dropped: readonly string[]
  readonly error: object | null
  readonly upstream: { readonly url: string; readonly body: unknown } | null
}

interface ExplainedAnswer {
  readonly route: { readonly id: string; readonly order: readonly string[] } | null
  readonly links: readonly ExplainedLink[]
  readonly estimate: { readonly prompt_tokens: number } | null
  readonly reservation: number | null
  readonly admission: {
    readonly verdict: string
    readonly code: string | null
    readonly scope: string | null
  }
  readonly error: Record<string, unknown> | null
}

interface MadeCall {
  readonly request: UpstreamRequest
  readonly reserved: number
}

/** A gateway of one configuration, with an upstream that fails as told. */
async function openGateway(setup: Setup) {
  const store = new MemoryStore()
  const calls: MadeCall[] = []
  const held: (() => void)[] = []
  const state: { fates: readonly string[]; isHolding: boolean; key: string } = {
    fates: [],
    isHolding: false,
    key: '',
  }
  const upstream: UpstreamPort = async (request) => {
    const name = new URL(request.url).hostname.split('.')[0] ?? ''
    if (state.isHolding) await new Promise<void>((resolve) => held.push(resolve))
    else calls.push({ request, reserved: (await readKey()).budget_reserved })
    const fate = state.fates[Number(name.slice(1)) - 1]
    if (fate === 'ok') return json(answers[name]?.(request))(request)
    const headers: Record<string, string> = fate === '429' ? { 'retry-after': '5' } : {}
    return json({ error: { message: 'no' } }, { status: Number(fate), headers })(request)
  }
  const variables = { ...env, ...(setup.hasD && { D: 'canary-key-d-00004' }) }
  const tested = await testGateway(writeConfig(setup), {
    env: { ...variables, GATEWAY_MASTER_KEY: masterKey },
    openStore: async () => store,
    upstream,
    random: randomFrom(setup.seed),
  })
  const admin = (path: string, init: RequestInit = {}) =>
    tested.get(path, { ...init, headers: { authorization: `Bearer ${masterKey}` } })
  const post = async (path: string, body: object) =>
    (await admin(path, { method: 'POST', body: JSON.stringify(body) })).text()
  const readKey = async () =>
    (await (await admin(`/admin/keys/${state.key}`)).json()) as { budget_reserved: number }
  return { ...tested, store, calls, held, state, admin, post }
}
type Opened = Awaited<ReturnType<typeof openGateway>>

/** Everything that a request could have changed. */
async function readState({ get, admin, store, log, calls }: Opened): Promise<unknown> {
  const metrics = await (await get('/metrics')).text()
  const ofRequests = metrics
    .split('\n')
    // Times of the admin routes, and readings of the process.
    .filter(
      (line) => !/^(?:# |process_|nodejs_|gateway_event_loop|gateway_http_request)/.test(line),
    )
  const read = async (path: string) => (await admin(path)).json()
  return {
    metrics: ofRequests,
    keys: await read('/admin/keys'),
    groups: await read('/admin/groups'),
    status: await read('/admin/status'),
    routes: await read('/admin/routes'),
    requests: await read('/admin/requests'),
    audit: await read('/admin/audit'),
    rows: store.usage.length,
    lines: log.length,
    calls: calls.length,
  }
}

/** Explains a request, and checks that this changes nothing, however often it is done. */
async function explain(
  gateway: Opened,
  path: string,
  body: object,
): Promise<[ExplainedAnswer, string]> {
  const { post, state } = gateway
  const question = { path, body, key_id: state.key }
  const before = await readState(gateway)
  const text = await post('/admin/explain', question)
  const again = await post('/admin/explain', question)
  expect(withoutId(again)).toBe(withoutId(text))
  expect(await readState(gateway)).toEqual(before)
  return [JSON.parse(text) as ExplainedAnswer, text]
}

function withoutId(text: string): string {
  return text.replace(/"request_id":"[^"]*"/g, '')
}

/** The code of an error in any of the forms. */
function readCode(body: Record<string, unknown>): unknown {
  const error = (body['error'] ?? {}) as Record<string, unknown>
  return error['gateway_code'] ?? error['code']
}

/** The hosts of the calls, without repetitions. */
function listHosts(urls: readonly string[]): string[] {
  const hosts = urls.map((url) => new URL(url).hostname)
  return hosts.filter((host, at) => host !== hosts[at - 1])
}

test('a request becomes what its explanation says, which changes nothing', {
  timeout: 600_000,
}, async () => {
  const seen = { refused: 0, called: 0, served: 0, skipped: 0 }
  await fc.assert(
    fc.asyncProperty(
      anyConfig,
      anyLimits,
      anyLimits,
      fc.array(anyAsked, { minLength: 4, maxLength: 8 }),
      async (setup, keyLimits, groupLimits, requests) => {
        const gateway = await openGateway(setup)
        try {
          const group = JSON.parse(
            await gateway.post('/admin/groups', { name: 'g', ...groupLimits }),
          )
          const key = JSON.parse(
            await gateway.post('/admin/keys', { name: 'k', group_id: group.id, ...keyLimits }),
          )
          gateway.state.key = key.id
          const isCapped = keyLimits.budget_max !== null
          for (const asked of requests.map(fitModel)) {
            await askOnce(gateway, asked, { secret: key.key, isCapped, seen })
          }
        } finally {
          await gateway.gateway.close()
        }
      },
    ),
    { numRuns: runs },
  )
  // The generators reach every outcome.
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(runs / 10)
})

interface Sender {
  readonly secret: string
  readonly isCapped: boolean
  readonly seen: { refused: number; called: number; served: number; skipped: number }
}

async function askOnce(gateway: Opened, asked: Asked, { secret, isCapped, seen }: Sender) {
  const { get, state, held, calls, clock } = gateway
  const send = (path: string, body: object) =>
    get(path, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}` },
      body: JSON.stringify(body),
    })
  await clock.advance(asked.wait)
  state.fates = asked.fates
  // Another request may be running, with its reservation and its place.
  state.isHolding = asked.isHeld
  const running = asked.isHeld
    ? send(
        '/v1/chat/completions',
        writeRequest({ ...asked, twist: 'none', path: '/v1/chat/completions' }),
      )
    : undefined
  await settled()
  state.isHolding = false

  const body = writeRequest(asked)
  const [explained, text] = await explain(gateway, asked.path, body)
  const heldBefore = await readReserved(gateway)
  const before = calls.length
  const answer = await send(asked.path, body)
  const replied = (await answer.json().catch(() => ({}))) as Record<string, unknown>
  const made = calls.slice(before)

  const { error, links, admission } = explained
  expect(admission.verdict).toBe(error ? 'refused' : 'admitted')
  expect(admission.code).toBe(error ? error['code'] : null)
  // Of a provider with a parked key, requests carry another one.
  const able = links.filter(
    (link) => !link.error && link.credential !== 'missing' && link.circuit !== 'open',
  )
  if (error) {
    seen.refused++
    expect(made).toEqual([])
    expect(readCode(replied)).toBe(error['code'])
    const own = replied['error'] as Record<string, unknown>
    expect(admission.scope).toBe(own['scope'] ?? null)
    if (!/messages|responses/.test(asked.path)) {
      expect({ ...own, request_id: '' }).toEqual({ ...error, request_id: '' })
    }
  } else {
    expect(explained.route?.order).toEqual(links.map(({ model }) => model))
    const [first] = made
    const expected = able[0]
    expect(first?.request.url).toBe(expected?.upstream?.url)
    if (first && expected) {
      seen.called++
      const sent = new TextDecoder().decode(first.request.body)
      expect(text).toContain(`${JSON.stringify(expected.upstream?.url)},"body":${sent}}`)
      if (isCapped) expect(first.reserved - heldBefore).toBeCloseTo(explained.reservation ?? 0, 12)
    }
    const tried = listHosts(made.map(({ request }) => request.url))
    const hosts = listHosts(able.map(({ upstream }) => String(upstream?.url)))
    expect(tried).toEqual(hosts.slice(0, answer.ok ? tried.length : hosts.length))
    if (links[0] !== able[0]) seen.skipped++
    if (answer.ok) checkServed(answer, explained)
    if (answer.ok) seen.served++
  }
  for (const release of held.splice(0)) release()
  await running
  await settled()
}

/** The answer names the link that served, and what that link left out. */
function checkServed({ headers }: Response, { links }: ExplainedAnswer): void {
  const served = links.find(({ model }) => model === headers.get('x-gateway-model-used'))
  expect(headers.get('x-gateway-dropped') ?? '').toBe(served?.dropped.join(','))
}

async function readReserved({ admin, state }: Opened): Promise<number> {
  const key = (await (await admin(`/admin/keys/${state.key}`)).json()) as {
    budget_reserved: number
  }
  return key.budget_reserved
}
