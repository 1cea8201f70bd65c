import { describe, expect, test } from 'vitest'
import { completion, hello, role, wholeStream } from '../support/answers.ts'
import { makeChain } from '../support/chain.ts'
import { expectCommonHeaders } from '../support/contract.ts'
import { samples, series } from '../support/exposition.ts'
import { oneProvider, readError, type TestGateway } from '../support/gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { json, LiveUpstream, silent, stream } from '../support/scripted-upstream.ts'
import { streamed } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
const scrape = async ({ get }: TestGateway) => (await get('/metrics')).text()

/** Sends a request and reads the response to its end. */
async function run(gateway: TestGateway, body: unknown = request, init?: RequestInit) {
  const pending = gateway.chat(body, init)
  await gateway.clock.advance(1000)
  await (await pending).text()
}

test('the exposition is Prometheus text, with a type and a help line for every series', async () => {
  const gateway = await watchedGateway()
  gateway.upstream.next(json(completion()))
  await run(gateway)
  const response = await gateway.get('/metrics')
  expectCommonHeaders(response)
  expect(response.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
  const text = await response.text()
  const families = new Set(
    samples(text).map(({ name }) => name.replace(/_(bucket|sum|count)$/, '')),
  )
  for (const family of families) {
    expect(text).toMatch(new RegExp(`^# HELP ${family} .+$`, 'm'))
    expect(text).toMatch(new RegExp(`^# TYPE ${family} (counter|gauge|histogram)$`, 'm'))
    expect(family).toMatch(/^(gateway|process|nodejs)_/)
  }
})

test('counters start at zero', async () => {
  const text = await scrape(await watchedGateway())
  expect(series(text, 'gateway_metadata_rejected_total')).toEqual([{ labels: {}, value: 0 }])
  expect(series(text, 'gateway_requests_in_flight')).toEqual([{ labels: {}, value: 0 }])
  expect(text).toContain('# TYPE gateway_tokens_total counter')
  expect(text).not.toContain('gateway_webhook')
})

test('a host without metrics has no /metrics route, and the error says why', async () => {
  const gateway = await watchedGateway(oneProvider, { metrics: undefined })
  gateway.upstream.next(json(completion()))
  await run(gateway)
  const response = await gateway.get('/metrics')
  expect(response.status).toBe(404)
  expect(await readError(response)).toMatchObject({
    code: 'LM-1003',
    message: 'this host has no metrics; pass the option `metrics` to createGateway',
  })
  expect(await (await gateway.get('/')).text()).not.toContain('/metrics')
})

describe('gateway_tokens_total', () => {
  const labels = { capability: 'chat', model: 'm', provider: 'p' }

  test('reported and estimated tokens are counted apart', async () => {
    const gateway = await watchedGateway()
    gateway.upstream.next(json(completion()), json(completion()), json(completion('Hello', {})))
    for (let turn = 0; turn < 3; turn++) await run(gateway)
    expect(series(await scrape(gateway), 'gateway_tokens_total')).toEqual(
      expect.arrayContaining([
        { labels: { ...labels, direction: 'input', estimated: 'false' }, value: 18 },
        { labels: { ...labels, direction: 'output', estimated: 'false' }, value: 4 },
        { labels: { ...labels, direction: 'input', estimated: 'true' }, value: 8 },
        { labels: { ...labels, direction: 'output', estimated: 'true' }, value: 2 },
      ]),
    )
  })

  test('streams are counted, and those that died by what they had sent', async () => {
    const gateway = await watchedGateway()
    gateway.upstream.next(stream([wholeStream]), stream([role + hello]))
    await run(gateway, streamed())
    await run(gateway, streamed())
    expect(
      series(await scrape(gateway), 'gateway_tokens_total')
        .map(({ value }) => value)
        .sort(),
    ).toEqual([2, 2, 8, 9])
  })

  test('a request that no link served counts no tokens', async () => {
    const gateway = await watchedGateway()
    gateway.upstream.always(json({}, { status: 500 }))
    await run(gateway)
    await run(gateway, {})
    expect(series(await scrape(gateway), 'gateway_tokens_total')).toEqual([])
  })

  test('tokens are counted for the link that served', async () => {
    const gateway = await watchedGateway(makeChain([{}, {}]))
    gateway.upstream.next(json({}, { status: 401 }), json(completion()))
    await run(gateway)
    expect(series(await scrape(gateway), 'gateway_tokens_total')).toMatchObject([
      { labels: { model: 'm2', provider: 'p2' } },
      { labels: { model: 'm2', provider: 'p2' } },
    ])
  })
})

describe('gateway_request_duration_seconds', () => {
  const counts = async (gateway: TestGateway) =>
    series(await scrape(gateway), 'gateway_request_duration_seconds_count')

  test('the status is the final one, also for streams', async () => {
    const gateway = await watchedGateway(makeChain([{}], 'circuit_failure_threshold = 1000'))
    gateway.upstream.next(
      json(completion()),
      stream([wholeStream]),
      stream([role + hello]),
      json({}, { status: 422 }),
    )
    await run(gateway)
    await run(gateway, streamed())
    await run(gateway, streamed())
    await run(gateway)
    const labels = { capability: 'chat', api: 'chat', model: 'm', provider: 'p' }
    expect(await counts(gateway)).toEqual([
      { labels: { ...labels, status: '200' }, value: 2 },
      { labels: { ...labels, status: '502' }, value: 1 },
      { labels: { ...labels, status: '422' }, value: 1 },
    ])
  })

  test('a request that no link served has the requested model and its primary provider', async () => {
    const gateway = await watchedGateway(makeChain([{}, {}]))
    gateway.upstream.always(json({}, { status: 500 }))
    await run(gateway)
    expect(await counts(gateway)).toMatchObject([
      { labels: { model: 'm', provider: 'p', status: '503' }, value: 1 },
    ])
  })

  test('a client that left is a 499, which is not a server error', async () => {
    const gateway = await watchedGateway()
    gateway.upstream.next(silent())
    const controller = new AbortController()
    const pending = gateway.chat(request, { signal: controller.signal })
    await gateway.clock.advance(2000)
    controller.abort()
    await pending
    expect(await counts(gateway)).toMatchObject([
      { labels: { model: 'm', status: '499' }, value: 1 },
    ])
  })

  test('the duration runs from arrival to the last frame, in seconds', async () => {
    const gateway = await watchedGateway()
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    const pending = gateway.chat(streamed())
    await gateway.clock.advance(1500)
    live.push(role + hello)
    const response = await pending
    const text = response.text()
    await gateway.clock.advance(2500)
    live.push(wholeStream)
    await text
    const scraped = await scrape(gateway)
    expect(series(scraped, 'gateway_request_duration_seconds_sum')).toMatchObject([{ value: 4 }])
    expect(series(scraped, 'gateway_time_to_first_token_seconds_sum')).toEqual([
      { labels: { model: 'm', provider: 'p' }, value: 1.5 },
    ])
  })

  test.each([
    ['an unknown model', { ...request, model: 'canary' }],
    ['the name of an Object.prototype property', { ...request, model: 'constructor' }],
    ['a model of another type', { ...request, model: { canary: 1 } }],
    ['no model', {}],
    ['text that is not JSON', 'canary'],
  ])('client text never becomes a label: %s', async (_, body) => {
    const gateway = await watchedGateway()
    await run(gateway, body)
    await gateway.get('/v1/models/canary')
    await gateway.get('/canary')
    const text = await scrape(gateway)
    expect(text).not.toContain('canary')
    expect(text).not.toContain('constructor')
    expect(await counts(gateway)).toMatchObject([{ labels: { model: '', provider: '' }, value: 1 }])
  })
})

test('gateway_upstream_attempts_total counts every call by outcome', async () => {
  const gateway = await watchedGateway(makeChain([{}, {}, { keyVariable: 'NOT_SET' }]))
  const { upstream } = gateway
  upstream.next(json({}, { status: 500 }), json({}, { status: 401 }), json(completion()))
  await run(gateway)
  expect(series(await scrape(gateway), 'gateway_upstream_attempts_total')).toEqual(
    expect.arrayContaining([
      { labels: { provider: 'p', model: 'm', outcome: 'status' }, value: 2 },
      { labels: { provider: 'p2', model: 'm2', outcome: 'success' }, value: 1 },
    ]),
  )
})

test('running requests are counted, streams included, and for each link streams apart', async () => {
  const gateway = await watchedGateway()
  const live = new LiveUpstream()
  gateway.upstream.next(live.responder, silent())
  live.push(role + hello)
  const controller = new AbortController()
  const response = await gateway.chat(streamed())
  const pending = gateway.chat(request, { signal: controller.signal })
  await settled()
  expect(series(await scrape(gateway), 'gateway_requests_in_flight')).toMatchObject([{ value: 2 }])
  expect(await readLoads(gateway)).toEqual([
    ['p', 'm', 'false', 1],
    ['p', 'm', 'true', 1],
  ])
  controller.abort()
  await pending
  expect(await readLoads(gateway)).toEqual([
    ['p', 'm', 'false', 0],
    ['p', 'm', 'true', 1],
  ])
  live.push(wholeStream)
  await response.text()
  expect(series(await scrape(gateway), 'gateway_requests_in_flight')).toMatchObject([{ value: 0 }])
  expect((await readLoads(gateway)).map(([, , , value]) => value)).toEqual([0, 0])
})

/** Returns the running requests of each link: provider, model, whether they are streams, number. */
async function readLoads(gateway: TestGateway) {
  const loads = series(await scrape(gateway), 'gateway_upstream_requests_in_flight')
  return loads.map(({ labels: { provider, model, stream: isStream }, value }) => [
    provider,
    model,
    isStream,
    value,
  ])
}

describe('metadata labels', () => {
  const config = (more: string) => `[telemetry]\n${more}\n${oneProvider}`
  const tokens = async (gateway: TestGateway) =>
    series(await scrape(gateway), 'gateway_tokens_total')
      .filter(({ labels }) => labels['direction'] === 'input')
      .map(({ labels }) => labels)

  async function label(gateway: TestGateway, metadata: unknown) {
    gateway.upstream.next(json(completion()))
    const headers = { 'x-gateway-metadata': JSON.stringify(metadata) }
    await run(gateway, request, metadata === undefined ? {} : { headers })
  }

  test('only listed metadata become labels, as text, and are empty where a request has none', async () => {
    const gateway = await watchedGateway(config('metadata_labels = ["team", "paid"]'))
    await label(gateway, { team: 'a', paid: true, secret: 'canary' })
    await label(gateway, { paid: 1.5 })
    await label(gateway, undefined)
    expect(await tokens(gateway)).toMatchObject([
      { team: 'a', paid: 'true' },
      { team: '', paid: '1.5' },
      { team: '', paid: '' },
    ])
    expect(await scrape(gateway)).not.toContain('canary')
  })

  test('there are no metadata labels by default', async () => {
    const gateway = await watchedGateway()
    await label(gateway, { team: 'a' })
    expect(Object.keys((await tokens(gateway))[0] ?? {}).sort()).toEqual([
      'capability',
      'direction',
      'estimated',
      'model',
      'provider',
    ])
  })

  test('control characters and lone surrogates are removed, and quotes are escaped', async () => {
    const gateway = await watchedGateway(config('metadata_labels = ["team"]'))
    await label(gateway, { team: 'a\n\u0000b\ud800\u007f"} 1\\' })
    const text = await scrape(gateway)
    expect(text).toContain('team="ab\\"} 1\\\\"')
    expect(samples(text).every(({ value }) => !Number.isNaN(value))).toBe(true)
  })

  test('a label named like a property of every object is empty where a request has none', async () => {
    const gateway = await watchedGateway(config('metadata_labels = ["constructor", "toString"]'))
    await label(gateway, { other: 1 })
    await label(gateway, { constructor: 'a' })
    expect(await tokens(gateway)).toMatchObject([
      { constructor: '', toString: '' },
      { constructor: 'a', toString: '' },
    ])
  })

  test('past max_series new label values read `other`, and existing series continue', async () => {
    const gateway = await watchedGateway(config('metadata_labels = ["team"]\nmax_series = 3'))
    for (const team of ['a', 'b', 'c', 'b', 'a']) await label(gateway, { team })
    const counted = series(await scrape(gateway), 'gateway_tokens_total')
    expect(
      counted.map(({ labels, value }) => [labels['team'], labels['direction'], value]),
    ).toEqual([
      ['a', 'input', 18],
      ['a', 'output', 4],
      ['b', 'input', 18],
      ['other', 'output', 6],
      ['other', 'input', 9],
    ])
  })

  test('there are never more series than max_series, for any models and answers', async () => {
    const gateway = await watchedGateway(
      makeChain([{}, {}, {}], '[telemetry]\nmetadata_labels = ["team"]\nmax_series = 5'),
    )
    for (const model of ['m', 'm2', 'm3'])
      for (const team of ['a', 'b', 'c', 'd']) {
        gateway.upstream.next(json(completion()))
        const headers = { 'x-gateway-metadata': JSON.stringify({ team }) }
        await run(gateway, { ...request, model }, { headers })
      }
    const teams = series(await scrape(gateway), 'gateway_tokens_total').map(
      ({ labels }) => labels['team'],
    )
    expect(teams.filter((team) => team !== 'other')).toHaveLength(5)
  })

  test('a request without metadata keeps empty labels past max_series and takes no series', async () => {
    const gateway = await watchedGateway(
      config('metadata_labels = ["team", "user"]\nmax_series = 2'),
    )
    await label(gateway, undefined)
    await label(gateway, { team: 'a' })
    await label(gateway, { user: 'x' })
    expect(await tokens(gateway)).toMatchObject([
      { team: '', user: '' },
      { team: 'a', user: '' },
      { team: '', user: 'other' },
    ])
  })
})
