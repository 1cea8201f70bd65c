import { describe, expect, test } from 'vitest'
import { chatBody, makeRoute, takeCalls } from '../routing/support.ts'
import { completion, wholeStream } from '../support/answers.ts'
import { byProvider } from '../support/chain.ts'
import { expectErrorShape } from '../support/contract.ts'
import { errorIn, keyedGateway, used } from '../support/keyed-gateway.ts'
import { reloadingGateway } from '../support/reloading-gateway.ts'
import { broken, json, stream } from '../support/scripted-upstream.ts'
import { settlement } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const answer = json(completion())
const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const png = 'data:image/png;base64,iVBORw0KGgo='
const withImage = (url = png) => chatBody({ messages: [{ role: 'user', content: [image(url)] }] })

describe('the list of models', () => {
  const config = makeRoute({
    models: [
      'capabilities = ["chat", "embed"], modalities = ["text", "image"]',
      'capabilities = ["embed", "chat"]',
      'modalities = ["image", "text"]',
    ],
  })

  test('a route follows the models, with what all of its targets share', async () => {
    const { get } = await watchedGateway(config)
    const route = {
      id: 'r',
      object: 'model',
      created: 1_764_000_000,
      owned_by: 'gateway',
      capabilities: ['chat'],
      modalities: ['text'],
    }
    const { data } = (await (await get('/v1/models')).json()) as { data: { id: string }[] }
    expect(data.map(({ id }) => id)).toEqual(['a', 'b', 'c', 'z', 'r'])
    expect(data.at(-1)).toEqual(route)
    expect(await (await get('/v1/models/r')).json()).toEqual(route)
  })

  test('`created` of a route stays while its entry is unchanged', async () => {
    const { clock, change, get, key } = await reloadingGateway(config)
    const { headers } = await key()
    const created = async () =>
      ((await (await get('/v1/models/r', { headers })).json()) as { created: number }).created
    const first = await created()
    await clock.advance(60_000)
    await change(config)
    expect(await created()).toBe(first)
    await change(config.replace('weight = 1', 'weight = 2'))
    expect(await created()).toBe(first + 60)
  })

  test('a mistyped id of a route is answered with the route', async () => {
    const { chat } = await watchedGateway(config.replace('id = "r"', 'id = "all-models"'))
    const error = await expectErrorShape(await chat({ ...chatBody(), model: 'all_models' }))
    expect(error).toMatchObject({
      code: 'LM-2001',
      message: expect.stringContaining('did you mean all-models?'),
    })
  })
})

describe('what a route accepts', () => {
  test('a capability that not all targets have is LM-2002', async () => {
    const { get } = await watchedGateway(
      makeRoute({ models: ['capabilities = ["chat", "embed"]'] }),
    )
    const response = await get('/v1/embeddings', {
      method: 'POST',
      body: JSON.stringify({ model: 'r', input: 'x' }),
    })
    expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-2002', param: 'model' })
  })

  test('an image needs every target and every fallback', async () => {
    const seeing = 'modalities = ["text", "image"]'
    const one = await watchedGateway(makeRoute({ weights: [1, 1], models: [seeing] }))
    expect(await expectErrorShape(await one.chat(withImage()))).toMatchObject({
      code: 'LM-2003',
      message: 'model r does not accept images',
    })
    const backed = makeRoute({ weights: [1, 1], models: [seeing, seeing], hasFallback: true })
    const all = await watchedGateway(backed)
    expect(await expectErrorShape(await all.chat(withImage()))).toMatchObject({
      code: 'LM-2003',
      message: 'model r accepts images, but its fallback z does not',
    })
  })

  test('a file reference goes to the targets of its vendor only', async () => {
    const seeing = 'modalities = ["text", "image"]'
    const { chat, upstream } = await watchedGateway(
      makeRoute({ weights: [1, 1], models: [seeing, seeing], kinds: ['openai', 'anthropic'] }),
    )
    upstream.always(json({}, { status: 400 }))
    await chat(withImage('anthropic-file:file_1'))
    expect(takeCalls(upstream)).toBe('b')
    expect(await expectErrorShape(await chat(withImage('gs://bucket/file')))).toMatchObject({
      code: 'LM-2008',
    })
  })

  test('a strict target that would have to drop a field is skipped, wherever it is', async () => {
    const strict = makeRoute({ weights: [1, 1], kinds: ['cohere'], settings: 'strict = true' })
    const { chat, upstream } = await watchedGateway(strict)
    upstream.always(answer)
    expect((await chat(chatBody({ logit_bias: { 1: 1 } }))).status).toBe(200)
    expect(takeCalls(upstream)).toBe('b')
    const none = await watchedGateway(
      makeRoute({ weights: [1], kinds: ['cohere'], settings: 'strict = true' }),
    )
    expect(
      await expectErrorShape(await none.chat(chatBody({ logit_bias: { 1: 1 } }))),
    ).toMatchObject({
      code: 'LM-1001',
      param: 'logit_bias',
    })
  })

  test('embeddings and rerank go through routes', async () => {
    const both = 'capabilities = ["embed", "rerank"]'
    const { get, upstream } = await watchedGateway(
      makeRoute({ weights: [1, 1], kinds: ['jina', 'jina'], models: [both, both] }),
    )
    const post = (path: string, body: object) =>
      get(path, { method: 'POST', body: JSON.stringify({ model: 'r', ...body }) })
    byProvider(upstream, {
      a: broken(),
      b: json({ data: [{ index: 0, embedding: [1] }], usage: { total_tokens: 1 } }),
    })
    const vectors = await post('/v1/embeddings', { input: 'x' })
    expect(await vectors.json()).toMatchObject({ object: 'list' })
    byProvider(upstream, { a: broken(), b: json({ results: [{ index: 0, relevance_score: 1 }] }) })
    const ranked = await post('/v1/rerank', { query: 'x', documents: ['y'] })
    expect(await ranked.json()).toMatchObject({ model: 'b' })
    expect(takeCalls(upstream)).toBe('abab')
  })
})

describe('what is recorded', () => {
  const priced = makeRoute({
    weights: [1, 1],
    models: [
      'cost_per_1m_input = 1, cost_per_1m_output = 2',
      'cost_per_1m_input = 10, cost_per_1m_output = 20',
    ],
  })

  test('the route is the requested model, and the target the one that served', async () => {
    const gateway = await keyedGateway(priced)
    const key = await gateway.key()
    byProvider(gateway.upstream, { a: broken(), b: used(100, 10) })
    const { headers } = await gateway.ask(key, chatBody())
    expect(headers.get('x-gateway-model-used')).toBe('b')
    expect(headers.get('x-gateway-provider')).toBe('b')
    expect(await gateway.rows()).toMatchObject([
      { model: 'r', modelUsed: 'b', provider: 'b', attempts: 2, cost: 1_200_000n },
    ])
    expect(settlement(gateway.log)).toMatchObject({ model: 'r', model_used: 'b', provider: 'b' })
    const metrics = await (await gateway.get('/metrics')).text()
    expect(metrics).toMatch(
      /gateway_request_duration_seconds_count{capability="chat",api="chat",model="b",provider="b",status="200"} 1/,
    )
  })

  test('a failed request names the route, and the provider that was called last', async () => {
    const gateway = await keyedGateway(priced)
    const key = await gateway.key()
    gateway.upstream.always(broken())
    await gateway.ask(key, chatBody())
    expect(await gateway.rows()).toMatchObject([{ model: 'r', modelUsed: null, provider: 'b' }])
    expect(settlement(gateway.log)).toMatchObject({ model: 'r', provider: 'b' })
    const metrics = await (await gateway.get('/metrics')).text()
    expect(metrics).toContain('api="chat",model="r",provider="",status="503"')
  })

  test('the reservation covers the dearest target', async () => {
    const gateway = await keyedGateway(priced)
    gateway.upstream.always(used(8, 0))
    // A prompt of 8 tokens and 10 tokens of output cost at most 280,000 nano-dollars on b.
    const body = chatBody({ max_tokens: 10, messages: [{ role: 'user', content: 'x'.repeat(4) }] })
    const poor = await gateway.key({ budget_max: 0.000_279 })
    expect(errorIn(await gateway.ask(poor, body))).toMatchObject({ code: 'LM-4001' })
    const rich = await gateway.key({ budget_max: 0.000_281 })
    expect((await gateway.ask(rich, body)).status).toBe(200)
  })

  test('a key that may use the route alone is served by its targets', async () => {
    const gateway = await keyedGateway(priced)
    gateway.upstream.always(used(8, 0))
    const key = await gateway.key({ models: ['r'] })
    expect((await gateway.ask(key, chatBody())).status).toBe(200)
    expect(errorIn(await gateway.ask(key, { ...chatBody(), model: 'a' }))).toMatchObject({
      code: 'LM-4005',
    })
  })

  test('a stream through a route ends as a stream of its target', async () => {
    const { chat, upstream, log } = await watchedGateway(makeRoute())
    byProvider(upstream, { a: broken(), b: stream([wholeStream]) })
    const response = await chat(chatBody({ stream: true }))
    expect(await response.text()).toContain('data: [DONE]')
    expect(settlement(log)).toMatchObject({ model: 'r', model_used: 'b', status: 200 })
  })
})

test('GET /admin/routes shows each target with its requests in flight, its times and its circuit', async () => {
  const config = makeRoute({
    strategy: 'fastest',
    weights: [1, 2],
    hasFallback: true,
    resilience: 'retry_max_attempts = 1\ncircuit_failure_threshold = 1',
  })
  const gateway = await keyedGateway(config)
  const { clock, upstream } = gateway
  const key = await gateway.key()
  const readRoutes = async () => (await gateway.admin('GET', '/admin/routes')).body
  const link = { circuit: 'closed', in_flight: 0, context_window: null }
  const target = { ...link, ttft_ms: null, latency_ms: null }
  const a = { ...target, model: 'a', provider: 'a', weight: 1 }
  const b = { ...target, model: 'b', provider: 'b', weight: 2 }
  const z = { ...link, model: 'z', provider: 'z' }
  const pinning = {
    affinity: 'session',
    affinity_ttl_seconds: 300,
    fallback_on: null,
    cases: null,
    default: null,
  }
  const showing = (...targets: object[]) => ({
    routes: [{ id: 'r', strategy: 'fastest', ...pinning, targets, fallbacks: [z] }],
  })
  expect(await readRoutes()).toEqual(showing(a, b))
  let during: unknown
  byProvider(upstream, {
    a: broken(),
    b: async (call) => {
      await clock.advance(40)
      during = await readRoutes()
      return answer(call)
    },
  })
  await gateway.ask(key, chatBody())
  const failed = { ...a, circuit: 'open' }
  expect(during).toEqual(showing(failed, { ...b, in_flight: 1 }))
  expect(await readRoutes()).toEqual(showing(failed, { ...b, latency_ms: 40 }))
  byProvider(upstream, {
    b: async (call) => {
      await clock.advance(20)
      return stream([wholeStream])(call)
    },
  })
  const { headers } = key
  await (await gateway.chat(chatBody({ stream: true }), { headers })).text()
  expect(await readRoutes()).toEqual(showing(failed, { ...b, ttft_ms: 20, latency_ms: 40 }))
})

test('a reload changes the targets, and requests that run keep theirs', async () => {
  const { change, key, ask, upstream } = await reloadingGateway(makeRoute({ weights: [1, 0] }))
  const client = await key()
  upstream.always(answer)
  await ask(client, chatBody())
  await change(makeRoute({ weights: [0, 1] }))
  await ask(client, chatBody())
  expect(takeCalls(upstream)).toBe('ab')
})

test('a route is cached when all of its targets allow it', async () => {
  const use = async (models: readonly string[]) => {
    const config = `${makeRoute({ weights: [1, 1], models })}\n[cache]\nenabled = true`
    const { chat, upstream } = await watchedGateway(config)
    upstream.always(answer)
    await chat(chatBody())
    const response = await chat(chatBody())
    return [response.headers.get('x-gateway-cache'), response.headers.get('x-gateway-model-used')]
  }
  expect(await use(['cache = true', 'cache = true'])).toEqual(['hit', 'a'])
  expect(await use(['cache = true'])).toEqual(['bypass', 'a'])
})
