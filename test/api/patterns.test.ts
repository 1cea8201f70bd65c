import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { completion } from '../support/answers.ts'
import { expectErrorShape } from '../support/contract.ts'
import { errorIn, keyedGateway, prompt, used } from '../support/keyed-gateway.ts'
import { reloadingGateway } from '../support/reloading-gateway.ts'
import { json } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const answer = json(completion())
const messages = [{ role: 'user', content: 'Hi' }]

const provider = (name: string, models: readonly string[], lines = '') => `
[[providers]]
name = "${name}"
kind = "openai"
base_url = "http://${name}.test/v1"
${lines}
models = [${models.map((model) => `{ ${model} }`).join(', ')}]
`

/** The provider and the vendor's name of the model of each upstream call so far. */
function takeCalls(upstream: { requests: { url: string; body?: Uint8Array | undefined }[] }) {
  return upstream.requests.splice(0).map(({ url, body }) => {
    const { model } = JSON.parse(new TextDecoder().decode(body)) as { model: string }
    return `${new URL(url).hostname.replace('.test', '')} ${model}`
  })
}

describe('a model whose id ends in *', () => {
  const config =
    provider('wide', [
      'id = "*"',
      'id = "wide/*", max_output_tokens = 7',
      'id = "wide/own", upstream_id = "fixed"',
    ]) +
    provider('named', [
      'id = "wide/fast-*", upstream_id = "lab/*:fast"',
      'id = "old-*", upstream_id = "new"',
    ])

  test.each([
    ['any', 'wide any'],
    ['wide/', 'wide wide/'],
    ['wide/one', 'wide one'],
    ['wide/a/b', 'wide a/b'],
    ['wide/own', 'wide fixed'],
    ['wide/own2', 'wide own2'],
    ['wide/fast-', 'wide fast-'],
    ['wide/fast-1', 'named lab/1:fast'],
    ['wide/fast-$&', 'named lab/$&:fast'],
    ['old-1', 'named new'],
    ['old-', 'wide old-'],
  ])('%s is sent as "%s"', async (model, call) => {
    const { chat, upstream } = await watchedGateway(config)
    upstream.next(answer)
    const response = await chat({ model, messages })
    expect(response.status).toBe(200)
    expect(response.headers.get('x-gateway-model-used')).toBe(model)
    expect(takeCalls(upstream)).toEqual([call])
  })

  test('serves what a plain search for the longest beginning finds', async () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', '/', '*'), maxLength: 5 })
    const id = letters.filter((text) => text !== '')
    const beginning = letters.filter((text) => !text.includes('*'))
    const ids = fc.uniqueArray(beginning, { maxLength: 6 })
    await fc.assert(
      fc.asyncProperty(ids, ids, fc.array(id, { maxLength: 8 }), async (patterns, exact, asked) => {
        const own = exact.filter((text) => text !== '')
        const { chat, upstream } = await watchedGateway(
          provider('p', [
            ...patterns.map((text) => `id = "${text}*", upstream_id = "${text}|*"`),
            ...own.map((text) => `id = "${text}", upstream_id = "= ${text}"`),
          ]),
        )
        upstream.always(answer)
        for (const model of asked) {
          const [longest] = patterns
            .filter((text) => model.startsWith(text) && model !== text)
            .sort((a, b) => b.length - a.length)
          const served = own.includes(model)
            ? `p = ${model}`
            : longest !== undefined && `p ${longest}|${model.slice(longest.length)}`
          const { status } = await chat({ model, messages })
          expect([status, ...takeCalls(upstream)]).toEqual(served === false ? [404] : [200, served])
        }
      }),
      { numRuns: 100 },
    )
  })

  test.each([
    '../files',
    'a/../../b',
    'a/.',
    'a?key=b',
    'a#b',
    'a%2e',
    'a\\b',
    'ą',
    'a'.repeat(300),
  ])('an id with a meaning in an address is unknown: %j', async (rest) => {
    const { chat } = await watchedGateway(config)
    const error = await expectErrorShape(await chat({ model: `wide/${rest}`, messages }))
    expect(error).toMatchObject({ code: 'LM-2001' })
  })

  test('all settings of the entry hold for what it serves', async () => {
    const { chat, upstream } = await watchedGateway(
      provider('p', ['id = "v-*", capabilities = ["embed"]', 'id = "c-*"']),
    )
    const error = await expectErrorShape(await chat({ model: 'v-1', messages }))
    expect(error).toMatchObject({ code: 'LM-2002' })
    const content = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,aaaa' } }]
    const image = await chat({ model: 'c-1', messages: [{ role: 'user', content }] })
    expect(await expectErrorShape(image)).toMatchObject({ code: 'LM-2003' })
    expect(upstream.requests).toEqual([])
  })

  test('is not listed, and neither is what it may serve', async () => {
    const { get } = await watchedGateway(config)
    const { data } = (await (await get('/v1/models')).json()) as { data: { id: string }[] }
    expect(data.map(({ id }) => id)).toEqual(['wide/own'])
    for (const id of ['wide/one', 'wide/*', '*']) {
      expect(await expectErrorShape(await get(`/v1/models/${id}`))).toMatchObject({
        code: 'LM-2001',
      })
    }
    expect((await get('/v1/models/wide/own')).status).toBe(200)
  })

  test('its answers are counted under the pattern, since clients may invent ids', async () => {
    const { chat, get, upstream } = await watchedGateway(config)
    upstream.always(answer)
    for (const model of ['wide/1', 'wide/2', 'wide/own']) await chat({ model, messages })
    const metrics = await (await get('/metrics')).text()
    const labels = new Set(
      Array.from(metrics.matchAll(/^gateway_.*\bmodel="([^"]*)"/gm), ([, label]) => label),
    )
    expect([...labels].sort()).toEqual(['wide/*', 'wide/own'])
    for (const name of ['gateway_circuit_state', 'gateway_upstream_requests_in_flight']) {
      const lines = metrics.split('\n').filter((line) => line.startsWith(`${name}{`))
      expect(new Set(lines.map((line) => line.replace(/ \S+$/, ''))).size).toBe(lines.length)
    }
  })

  test('explain names the pattern', async () => {
    const { gateway } = await watchedGateway(config)
    const explained = await gateway.explain({
      path: '/v1/chat/completions',
      body: JSON.stringify({ model: 'wide/fast-1', messages }),
    })
    expect(JSON.parse(explained)).toMatchObject({
      route: { id: 'wide/fast-1' },
      links: [{ model: 'wide/fast-1', pattern: 'wide/fast-*', provider: 'named' }],
    })
  })
})

describe('an id that only a pattern serves', () => {
  const config = `
[resilience]
retry_max_attempts = 1
${provider('p', ['id = "m", fallbacks = ["lab/b"]', 'id = "lab/*", fallbacks = ["lab/b", "m"]'])}
[[routes]]
id = "r"
strategy = "weighted"
targets = [{ model = "lab/a" }, { model = "lab/b", weight = 0 }]
`

  test.each([
    ['m', ['p m', 'p b']],
    ['r', ['p a', 'p b']],
    ['lab/x', ['p x', 'p b', 'p m']],
    ['lab/b', ['p b', 'p m']],
  ])('may be a fallback or a target: %s', async (model, calls) => {
    const { chat, upstream } = await watchedGateway(config)
    upstream.always(json({}, { status: 503 }))
    await chat({ model, messages })
    expect(takeCalls(upstream)).toEqual(calls)
  })

  test('has one circuit, whether it is asked for or backs another', async () => {
    const { chat, get, upstream } = await watchedGateway(
      config.replace('[resilience]', '[resilience]\ncircuit_failure_threshold = 2'),
    )
    upstream.always(json({}, { status: 503 }))
    await chat({ model: 'lab/b', messages })
    await chat({ model: 'm', messages })
    const metrics = await (await get('/metrics')).text()
    expect(metrics).toContain('gateway_circuit_state{provider="p",model="lab/b"} 1')
    await chat({ model: 'lab/b', messages })
    expect(takeCalls(upstream)).toEqual(['p b', 'p m', 'p m', 'p b'])
  })
})

describe('keys and groups', () => {
  const config = `
[resilience]
retry_max_attempts = 1
${provider('p', ['id = "lab/*", upstream_id = "up-*", cost_per_1m_input = 1'])}`

  test('lists of models hold for the id that the client sends', async () => {
    const gateway = await keyedGateway(config)
    const held = await gateway.key({ models: ['lab/a*', 'lab/exact'] })
    gateway.upstream.always(used(8))
    const ask = async (model: string) => (await gateway.ask(held, prompt(8, { model }))).status
    expect(await ask('lab/a1')).toBe(200)
    expect(await ask('lab/exact')).toBe(200)
    expect(await ask('lab/b')).toBe(403)
    expect(await ask('up-a')).toBe(404)
    const refused = await gateway.ask(held, prompt(8, { model: 'lab/b' }))
    expect(errorIn(refused)).toMatchObject({ code: 'LM-4005' })
  })

  test('rows of the usage log have the id, at the price of the entry', async () => {
    const gateway = await keyedGateway(config)
    const held = await gateway.key()
    gateway.upstream.always(used(1_000_000))
    await gateway.ask(held, prompt(8, { model: 'lab/a1' }))
    await gateway.clock.advance(2_000)
    const { body } = await gateway.admin('GET', '/admin/usage?group_by=model')
    expect(body).toMatchObject({ groups: [{ group: 'lab/a1', cost: 1 }] })
  })
})

test('a reload changes what patterns serve, for requests from then on', async () => {
  const before = provider('p', ['id = "lab/*"'])
  const gateway = await reloadingGateway(before)
  const held = await gateway.key()
  gateway.upstream.always(used(8))
  const ask = async (model: string) => (await gateway.ask(held, prompt(8, { model }))).status
  expect(await ask('lab/a')).toBe(200)
  await gateway.change(provider('p', ['id = "lab/*", upstream_id = "x-*"', 'id = "lab/b"']))
  expect([await ask('lab/a'), await ask('lab/b')]).toEqual([200, 200])
  await gateway.change(provider('p', ['id = "m"']))
  expect(await ask('lab/a')).toBe(404)
  expect(takeCalls(gateway.upstream)).toEqual(['p a', 'p x-a', 'p lab/b'])
})

test('answers of different ids of a pattern are cached apart', async () => {
  const config = `[cache]\nenabled = true\n${provider('p', ['id = "lab/*", cache = true'])}`
  const { chat, upstream } = await watchedGateway(config)
  upstream.always(answer)
  const ask = async (model: string) =>
    (await chat({ model, messages, temperature: 0 })).headers.get('x-gateway-cache')
  expect(await ask('lab/a')).toBe('miss')
  expect(await ask('lab/a')).toBe('hit')
  expect(await ask('lab/b')).toBe('miss')
})
