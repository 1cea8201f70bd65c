import { describe, expect, test } from 'vitest'
import { completion, wholeStream } from '../support/answers.ts'
import { expectCommonHeaders, expectErrorShape } from '../support/contract.ts'
import { json, silent, stream } from '../support/scripted-upstream.ts'
import { streamed } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

describe('x-request-id', () => {
  test.each(['a', 'A-b_c.9', 'x'.repeat(128), '...', '-', '1e400'])(
    '%s sent by the client is kept',
    async (id) => {
      const { get, chat, upstream, log } = await watchedGateway()
      upstream.next(json(completion()))
      const headers = { 'x-request-id': id }
      expect((await get('/health', { headers })).headers.get('x-request-id')).toBe(id)
      expect((await chat(request, { headers })).headers.get('x-request-id')).toBe(id)
      expect(log.at(-1)?.fields).toMatchObject({ request_id: id })
      expect(upstream.requests[0]?.headers).not.toHaveProperty('x-request-id')
      const error = await expectErrorShape(await get('/nowhere', { headers }))
      expect(error.request_id).toBe(id)
    },
  )

  test.each([
    ['empty', ''],
    ['too long', 'x'.repeat(129)],
    ['with a space', 'a b'],
    ['with a slash', 'a/b'],
    ['with a quote', 'a"b'],
    ['with a colon', 'a:b'],
    ['with a comma', 'a,b'],
    ['with a letter beyond ASCII', 'zé'],
    ['with markup', '<script>'],
  ])('an id that is %s is replaced', async (_, id) => {
    const { get } = await watchedGateway()
    const response = await get('/health', { headers: { 'x-request-id': id } })
    expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  test('requests without an id get distinct ones', async () => {
    const { get } = await watchedGateway()
    const ids = new Set<string | null>()
    for (let turn = 0; turn < 100; turn++)
      ids.add((await get('/health')).headers.get('x-request-id'))
    expect(ids.size).toBe(100)
  })
})

describe('HEAD', () => {
  const paths = ['/health', '/health/providers', '/v1/models', '/v1/models/m', '/metrics']

  test.each(paths)('HEAD %s answers as GET does, without the body', async (path) => {
    const { get } = await watchedGateway()
    const [head, full] = [await get(path, { method: 'HEAD' }), await get(path)]
    expect(head.status).toBe(200)
    expectCommonHeaders(head)
    expect(head.headers.get('content-type')).toBe(full.headers.get('content-type'))
    expect(head.headers.get('content-length')).toMatch(/^\d+$/)
    expect(await head.text()).toBe('')
    expect(await full.text()).not.toBe('')
  })

  test.each([
    ['/nowhere', 404, null],
    ['/v1/models/unknown-model', 404, null],
    ['/v1/chat/completions', 405, 'POST'],
  ])('a HEAD error has no body either: %s', async (path, status, allow) => {
    const { get } = await watchedGateway()
    const response = await get(path, { method: 'HEAD' })
    expect(response.status).toBe(status)
    expect(response.headers.get('allow')).toBe(allow)
    expectCommonHeaders(response)
    expect(await response.text()).toBe('')
  })
})

describe('requests to an upstream', () => {
  test('an upstream request has a handful of headers, none of them the client’s', async () => {
    const { chat, upstream } = await watchedGateway()
    upstream.next(json(completion()), stream([wholeStream]))
    const headers = {
      authorization: 'Bearer client-canary',
      cookie: 'client-canary',
      'x-api-key': 'client-canary',
      'api-key': 'client-canary',
      'openai-organization': 'client-canary',
      'x-stainless-retry-count': '2',
      'user-agent': 'client-canary',
      'x-gateway-metadata': '{"a":"client-canary"}',
      'accept-encoding': 'gzip',
      'content-type': 'text/plain',
    }
    await chat(request, { headers })
    await (await chat(streamed(), { headers })).text()
    const common = {
      'content-type': 'application/json',
      'accept-encoding': 'identity',
      authorization: 'Bearer sk-test-canary-0123456789',
      'user-agent': expect.stringMatching(/^model-gateway\/\d+\.\d+\.\d+$/),
    }
    expect(upstream.requests.map((sent) => sent.headers)).toEqual([
      { ...common, accept: 'application/json' },
      { ...common, accept: 'text/event-stream' },
    ])
  })

  test('an upstream request is a POST with the timeouts and limits of its provider', async () => {
    const { chat, upstream } = await watchedGateway()
    upstream.next(json(completion()))
    await chat(request)
    expect(upstream.requests).toMatchObject([
      {
        method: 'POST',
        url: 'https://api.openai.com/v1/chat/completions',
        connectTimeout: 5000,
        dedicatedPool: false,
      },
    ])
  })
})

describe('answers of an upstream', () => {
  const hostile = {
    'set-cookie': 'upstream-canary',
    location: 'upstream-canary',
    'content-security-policy': 'upstream-canary',
    'x-request-id': 'upstream-canary',
    'access-control-allow-origin': '*',
    'transfer-encoding': 'chunked',
    'content-encoding': 'br',
    server: 'upstream-canary',
    'x-should-retry': 'true',
  }

  test.each([200, 400, 429, 500])(
    'no header of an upstream answer with status %i reaches the client',
    async (status) => {
      const { chat, upstream, clock } = await watchedGateway()
      upstream.always(json(completion(), { status, headers: hostile }))
      const pending = chat(request)
      await clock.advance(1000)
      const response = await pending
      expectCommonHeaders(response)
      expect([...response.headers.values()].join()).not.toContain('upstream-canary')
      for (const name of [
        'set-cookie',
        'location',
        'access-control-allow-origin',
        'content-encoding',
      ]) {
        expect(response.headers.has(name)).toBe(false)
      }
      expect(response.headers.get('x-should-retry')).not.toBe('true')
    },
  )

  test('no header of an upstream stream reaches the client', async () => {
    const { chat, upstream } = await watchedGateway()
    upstream.next(stream([wholeStream], { headers: hostile }))
    const response = await chat(streamed())
    expectCommonHeaders(response)
    expect([...response.headers.keys()].sort()).toEqual([
      'cache-control',
      'content-security-policy',
      'content-type',
      'referrer-policy',
      'x-accel-buffering',
      'x-content-type-options',
      'x-frame-options',
      'x-gateway-attempts',
      'x-gateway-model-used',
      'x-gateway-provider',
      'x-request-id',
    ])
    await response.text()
  })
})

test('model and provider names in Latin-1 appear in their headers unchanged', async () => {
  const { chat, upstream } = await watchedGateway(`
    [[providers]]
    name = "Größe & Söhne"
    kind = "openai"
    api_key_env = "P_KEY"
    models = [{ id = "modèle" }]
  `)
  upstream.next(json(completion()))
  const response = await chat({ ...request, model: 'modèle' })
  expect(response.headers.get('x-gateway-model-used')).toBe('modèle')
  expect(response.headers.get('x-gateway-provider')).toBe('Größe & Söhne')
})

test('a host’s signal replaces the signal of the request', async () => {
  const { gateway, upstream, clock } = await watchedGateway()
  upstream.next(silent())
  const controller = new AbortController()
  const sent = new Request('http://gateway.test/v1/chat/completions', {
    method: 'POST',
    body: JSON.stringify(request),
    signal: AbortSignal.abort(),
  })
  const pending = gateway.fetch(sent, { signal: controller.signal })
  await clock.advance(10)
  expect(upstream.requests).toHaveLength(1)
  controller.abort()
  expect((await pending).status).toBe(499)
})
