import { describe, expect, test } from 'vitest'
import { BoundedQueue } from '../../src/wire/bounded-queue.ts'
import { completion, done, role, wholeStream } from '../support/answers.ts'
import { byProvider, called, type LinkSettings, makeChain } from '../support/chain.ts'
import { expectCommonHeaders, expectErrorShape } from '../support/contract.ts'
import { providerKey, type TestGateway } from '../support/gateway.ts'
import { isPending } from '../support/pending.ts'
import {
  broken,
  json,
  type Responder,
  silent,
  stream,
  whole,
} from '../support/scripted-upstream.ts'
import { settlement, streamed } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
const answer = json(completion())
const longTime = 20 * 60_000

const status = (code: number, headers: Record<string, string> = {}): Responder =>
  json({ error: { message: `upstream says ${code}` } }, { status: code, headers })
const connectTimeout = broken({ kind: 'timeout', limit: 'connect' })
const noContent = stream([role + done])

/** Sends one request and advances the clock past its longest duration. */
async function sendChat({ chat, clock }: TestGateway, body: object = request): Promise<Response> {
  const pending = chat(body)
  await clock.advance(longTime)
  return pending
}

interface Row {
  readonly name: string
  /** The responder of each link, for all its calls. */
  readonly links: readonly Responder[]
  readonly settings?: readonly LinkSettings[]
  readonly body?: object
  readonly status: number
  readonly code: string
  readonly attempts: number
  readonly retryAfter?: number
  /** Official SDKs may retry on their own. */
  readonly mayRetry?: boolean
  readonly says?: string
}

/** With one link, the client gets the error of that link. */
const oneLink: readonly Row[] = [
  {
    name: 'a rate limit',
    links: [status(429, { 'retry-after': '7' })],
    status: 429,
    code: 'LM-3001',
    attempts: 3,
    retryAfter: 7,
    mayRetry: true,
    says: 'provider p is rate limited: upstream says 429',
  },
  {
    name: 'a rate limit without Retry-After',
    links: [status(429)],
    status: 429,
    code: 'LM-3001',
    attempts: 3,
    mayRetry: true,
  },
  {
    name: 'an answer that is not a completion',
    links: [whole('<html>')],
    status: 502,
    code: 'LM-3002',
    attempts: 3,
    says: 'provider p',
  },
  {
    name: 'a response that is not an event stream',
    links: [whole('Hello', { headers: { 'content-type': 'text/plain' } })],
    body: streamed(),
    status: 502,
    code: 'LM-3002',
    attempts: 3,
  },
  ...[400, 404, 409, 415, 422, 405, 410, 418, 451].map((code) => ({
    name: `the client’s own mistake, ${code}`,
    links: [status(code)],
    status: code,
    code: 'LM-3003',
    attempts: 1,
    says: `provider p refused the request with status ${code}: upstream says ${code}`,
  })),
  ...[401, 402, 403, 407].map((code) => ({
    name: `a refused credential, ${code}`,
    links: [status(code)],
    status: 502,
    code: 'LM-3003',
    attempts: 1,
  })),
  ...[500, 501, 502, 503, 504, 520, 529, 599].map((code) => ({
    name: `a server error, ${code}`,
    links: [status(code, { 'retry-after': '1' })],
    status: 502,
    code: 'LM-3003',
    attempts: 3,
    // A 503 may carry `Retry-After`, as a 429 does.
    ...(code === 503 && { retryAfter: 1 }),
    says: `upstream says ${code}`,
  })),
  ...[301, 302, 303, 304, 307, 308].map((code) => ({
    name: `a redirect, ${code}`,
    links: [status(code, { location: 'https://elsewhere.test/' })],
    status: 502,
    code: 'LM-3003',
    attempts: 3,
  })),
  {
    name: 'an unknown status, 600',
    links: [status(600)],
    status: 502,
    code: 'LM-3003',
    attempts: 3,
  },
  {
    name: 'an unknown status, 999',
    links: [status(999)],
    status: 502,
    code: 'LM-3003',
    attempts: 3,
  },
  {
    name: 'an informational status, 103',
    links: [status(103)],
    status: 502,
    code: 'LM-3003',
    attempts: 3,
  },
  {
    name: 'an answer for accepted work, 202',
    links: [json({}, { status: 202 })],
    status: 502,
    code: 'LM-3003',
    attempts: 3,
  },
  { name: 'a refused connection', links: [broken()], status: 502, code: 'LM-3003', attempts: 3 },
  {
    name: 'the upstream’s own timeout',
    links: [status(408)],
    status: 504,
    code: 'LM-3005',
    attempts: 3,
    says: 'upstream says 408',
  },
  {
    name: 'a missing credential',
    links: [answer],
    settings: [{ keyVariable: 'NOT_SET' }],
    status: 502,
    code: 'LM-3006',
    attempts: 0,
    says: 'NOT_SET',
  },
  {
    name: 'streams without content',
    links: [noContent],
    body: streamed(),
    status: 502,
    code: 'LM-3010',
    attempts: 3,
  },
  { name: 'silence', links: [silent()], status: 504, code: 'LM-3011', attempts: 1 },
  {
    name: 'silence on a stream',
    links: [silent()],
    body: streamed(),
    status: 504,
    code: 'LM-3011',
    attempts: 1,
  },
  {
    name: 'a slow connect',
    links: [connectTimeout],
    status: 504,
    code: 'LM-3012',
    attempts: 3,
  },
  {
    name: 'silence until the total timeout',
    links: [silent()],
    settings: [{ settings: 'total_timeout_ms = 5000' }],
    status: 504,
    code: 'LM-3013',
    attempts: 1,
  },
]

const cut = { settings: 'total_timeout_ms = 5000' }

/** With several links, the error is LM-3004, except for failures that all links share. */
const moreLinks: readonly Row[] = [
  {
    name: 'server errors',
    links: [status(500), status(503)],
    status: 503,
    code: 'LM-3004',
    attempts: 6,
  },
  {
    name: 'three kinds of failures',
    links: [status(500), whole(''), broken()],
    status: 503,
    code: 'LM-3004',
    attempts: 9,
  },
  {
    name: 'refused credentials',
    links: [status(401), status(403)],
    status: 503,
    code: 'LM-3004',
    attempts: 2,
  },
  {
    name: 'missing credentials',
    links: [answer, answer],
    settings: [{ keyVariable: 'NOT_SET' }, { keyVariable: 'NOT_SET' }],
    status: 503,
    code: 'LM-3004',
    attempts: 0,
  },
  {
    name: 'rate limits: the shorter wait is returned',
    links: [status(429, { 'retry-after': '9' }), status(429, { 'retry-after': '4' })],
    status: 429,
    code: 'LM-3001',
    attempts: 6,
    retryAfter: 4,
    mayRetry: true,
  },
  {
    name: 'rate limits, one without Retry-After',
    links: [status(429), status(429, { 'retry-after': '4' })],
    status: 429,
    code: 'LM-3001',
    attempts: 6,
    retryAfter: 4,
    mayRetry: true,
  },
  {
    name: 'a rate limit and a server error',
    links: [status(429), status(500)],
    status: 503,
    code: 'LM-3004',
    attempts: 6,
  },
  { name: 'silence', links: [silent(), silent()], status: 504, code: 'LM-3011', attempts: 2 },
  {
    name: 'slow connects',
    links: [connectTimeout, connectTimeout],
    status: 504,
    code: 'LM-3012',
    attempts: 6,
  },
  {
    name: 'silence and a slow connect',
    links: [silent(), connectTimeout],
    status: 503,
    code: 'LM-3004',
    attempts: 4,
  },
  {
    name: 'silence and a server error',
    links: [silent(), status(500)],
    status: 503,
    code: 'LM-3004',
    attempts: 4,
  },
  {
    name: 'timeouts that the upstreams report',
    links: [status(408), status(408)],
    status: 503,
    code: 'LM-3004',
    attempts: 6,
  },
  {
    name: 'streams without content',
    links: [noContent, noContent],
    body: streamed(),
    status: 502,
    code: 'LM-3010',
    attempts: 6,
  },
  {
    name: 'a stream without content and a server error',
    links: [noContent, status(500)],
    body: streamed(),
    status: 503,
    code: 'LM-3004',
    attempts: 6,
  },
  {
    name: 'the total timeout on the last link',
    links: [status(500), silent()],
    settings: [{}, cut],
    status: 504,
    code: 'LM-3013',
    attempts: 4,
  },
  {
    name: 'the total timeout on the first link, with any outcome of the others',
    links: [silent(), status(500)],
    settings: [cut, {}],
    status: 504,
    code: 'LM-3013',
    attempts: 4,
  },
  {
    name: 'a total timeout that passed before the call of its link: the link is not called',
    links: [silent(), answer],
    settings: [{ settings: 'first_token_timeout_ms = 6000' }, cut],
    status: 504,
    code: 'LM-3013',
    attempts: 1,
  },
]

async function expectRow(row: Row): Promise<void> {
  const settings = row.links.map((_, at) => row.settings?.[at] ?? {})
  const gateway = await watchedGateway(makeChain(settings, 'circuit_failure_threshold = 1000'))
  byProvider(
    gateway.upstream,
    Object.fromEntries(row.links.map((link, at) => [at === 0 ? 'p' : `p${at + 1}`, link])),
  )
  const response = await sendChat(gateway, row.body)
  expect(response.status).toBe(row.status)
  expect(response.headers.get('x-should-retry')).toBe(row.mayRetry ? null : 'false')
  expect(response.headers.get('x-gateway-model-used')).toBeNull()
  expect(response.headers.get('location')).toBeNull()
  const error = await expectErrorShape(response)
  expect(error).toMatchObject({ code: row.code, type: 'upstream_error', param: null })
  expect(error.retry_after).toBe(row.retryAfter)
  expect(error.message).toContain(row.says ?? '')
  expect(settlement(gateway.log)).toMatchObject({
    status: row.status,
    error_code: row.code,
    attempts: row.attempts,
    model: 'm',
    model_used: undefined,
  })
  expect(gateway.upstream.requests).toHaveLength(row.attempts)
}

describe('a chain of one link ends in that link’s own error', () => {
  test.for(oneLink)('$name: $status $code', expectRow)
})

describe('a chain of several links ends in LM-3004 unless all links share an error', () => {
  test.for(moreLinks)('$name: $status $code', expectRow)

  test('the message lists every link with its attempts', async () => {
    const gateway = await watchedGateway(
      makeChain([{}, { keyVariable: 'NOT_SET' }, {}], 'circuit_failure_threshold = 1000'),
    )
    byProvider(gateway.upstream, { p: status(500), p3: status(401) })
    const error = await expectErrorShape(await sendChat(gateway))
    expect(error.message).toBe(
      'every link of the chain failed: ' +
        'm (3 attempts): provider p refused the request with status 500: upstream says 500; ' +
        'm2 (0 attempts): provider p2 has no credential: the variable NOT_SET is unset or empty; ' +
        'm3 (1 attempt): provider p3 refused the request with status 401: upstream says 401',
    )
  })

  test('a chain of open circuits is LM-3020 with the shortest remaining time', async () => {
    const gateway = await watchedGateway(
      makeChain(
        [{}, {}],
        'circuit_failure_threshold = 1\nretry_max_attempts = 1\ncircuit_cooldown_ms = 30000',
      ),
    )
    byProvider(gateway.upstream, { p: status(500), p2: status(500) })
    await (await gateway.chat(request)).text()
    await gateway.clock.advance(12_500)
    gateway.upstream.requests.length = 0
    gateway.log.length = 0
    const response = await gateway.chat(request)
    expect(response.status).toBe(503)
    expect(response.headers.get('retry-after')).toBe('18')
    expect(response.headers.get('x-should-retry')).toBe('false')
    expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-3020', retry_after: 18 })
    expect(settlement(gateway.log)).toMatchObject({ attempts: 0 })
    expect(gateway.upstream.requests).toEqual([])
  })

  test('an open circuit and a server error are LM-3004', async () => {
    const gateway = await watchedGateway(
      makeChain([{}, {}], 'circuit_failure_threshold = 2\nretry_max_attempts = 1'),
    )
    byProvider(gateway.upstream, { p: status(500), p2: answer })
    await gateway.chat(request)
    await gateway.chat(request)
    byProvider(gateway.upstream, { p2: status(500) })
    const error = await expectErrorShape(await gateway.chat(request))
    expect(error.code).toBe('LM-3004')
    expect(error.message).toContain('m (0 attempts): the circuit of provider p is open')
  })
})

describe('a call without a free file descriptor', () => {
  test.each(['EMFILE', 'ENFILE'])(
    'a call without a file descriptor fails with %s and a log line, and opens no circuit',
    async (reason) => {
      const gateway = await watchedGateway(
        makeChain([{}], 'circuit_failure_threshold = 1\nretry_max_attempts = 2\nretry_base_ms = 0'),
      )
      gateway.upstream.always(broken({ kind: 'network', reason, phase: 'connecting' }))
      for (let round = 0; round < 2; round++) {
        const error = await expectErrorShape(await sendChat(gateway))
        expect(error).toMatchObject({
          code: 'LM-3003',
          message: `provider p could not be reached: the gateway cannot open more files (${reason})`,
        })
      }
      const lines = gateway.log.filter(({ message }) => message === 'attempt failed')
      expect(lines.map(({ fields }) => fields?.['code'])).toEqual([reason, reason, reason, reason])
      gateway.upstream.always(answer)
      expect((await gateway.chat(request)).status).toBe(200)
    },
  )
})

describe('fallbacks', () => {
  const failures: readonly (readonly [string, Responder, LinkSettings, number])[] = [
    ['a refused connection, after its retries', broken(), {}, 4],
    ['a server error, after its retries', status(500), {}, 4],
    ['a rate limit, after its retries', status(429), {}, 4],
    ['a malformed answer, after its retries', whole('no'), {}, 4],
    ['a refused credential, at once', status(401), {}, 2],
    ['an unpaid bill, at once', status(402), {}, 2],
    ['a forbidden model, at once', status(403), {}, 2],
    ['a proxy that requires a credential, at once', status(407), {}, 2],
    ['a missing credential, without a call', silent(), { keyVariable: 'NOT_SET' }, 1],
    ['silence, after its first-token timeout', silent(), {}, 2],
    ['silence, after its own total timeout', silent(), cut, 2],
  ]

  test.each(failures)('%s', async (_, failure, settings, attempts) => {
    const gateway = await watchedGateway(makeChain([settings, {}]))
    byProvider(gateway.upstream, { p: failure, p2: answer })
    const response = await sendChat(gateway)
    expect(response.status).toBe(200)
    expectCommonHeaders(response)
    expect(response.headers.get('x-gateway-model-used')).toBe('m2')
    expect(response.headers.get('x-gateway-provider')).toBe('p2')
    expect(settlement(gateway.log)).toMatchObject({
      status: 200,
      model: 'm',
      model_used: 'm2',
      provider: 'p2',
      attempts,
    })
  })

  test.each(failures)('%s, for a stream', async (_, failure, settings, attempts) => {
    const gateway = await watchedGateway(makeChain([settings, {}]))
    byProvider(gateway.upstream, { p: failure, p2: stream([wholeStream]) })
    const response = await sendChat(gateway, streamed())
    expect(response.headers.get('x-gateway-provider')).toBe('p2')
    expect(await response.text()).toBe(wholeStream)
    expect(settlement(gateway.log)).toMatchObject({ status: 200, provider: 'p2', attempts })
  })

  test.each([400, 404, 409, 415, 422, 418])(
    'status %i of the first link is returned at once, since the next link would return the same',
    async (code) => {
      const gateway = await watchedGateway(makeChain([{}, {}]))
      byProvider(gateway.upstream, { p: status(code), p2: answer })
      const response = await sendChat(gateway)
      expect(response.status).toBe(code)
      expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-3003' })
      expect(called(gateway.upstream)).toEqual(['p'])
    },
  )

  test('a 4xx of the second link is returned with its own message', async () => {
    const gateway = await watchedGateway(makeChain([{}, {}, {}]))
    byProvider(gateway.upstream, { p: status(500), p2: status(422), p3: answer })
    const response = await sendChat(gateway)
    expect(response.status).toBe(422)
    expect((await expectErrorShape(response)).message).toContain('provider p2')
    expect(called(gateway.upstream)).toEqual(['p', 'p', 'p', 'p2'])
  })

  test('each link has its own retries', async () => {
    const gateway = await watchedGateway(makeChain([{}, {}], 'retry_max_attempts = 2'))
    byProvider(gateway.upstream, { p: status(500), p2: status(500) })
    await sendChat(gateway)
    expect(called(gateway.upstream)).toEqual(['p', 'p', 'p2', 'p2'])
  })

  test('there is no wait between two links', async () => {
    const gateway = await watchedGateway(makeChain([{}, {}], 'retry_max_attempts = 1'))
    byProvider(gateway.upstream, { p: status(503, { 'retry-after': '60' }), p2: answer })
    expect((await gateway.chat(request)).status).toBe(200)
    expect(gateway.clock.elapsed()).toBe(0)
  })

  test('two models may back each other: each serves when the other one fails', async () => {
    const gateway = await watchedGateway(`
      [[providers]]
      name = "p"
      kind = "openai"
      base_url = "https://p.test"
      models = [{ id = "m", fallbacks = ["m2"] }]
      [[providers]]
      name = "p2"
      kind = "openai"
      base_url = "https://p2.test"
      models = [{ id = "m2", fallbacks = ["m"] }]
    `)
    byProvider(gateway.upstream, { p: status(401), p2: answer })
    expect((await sendChat(gateway)).headers.get('x-gateway-model-used')).toBe('m2')
    byProvider(gateway.upstream, { p: answer, p2: status(401) })
    const other = await sendChat(gateway, { ...request, model: 'm2' })
    expect(other.headers.get('x-gateway-model-used')).toBe('m')
  })

  test('the fallbacks of a fallback are not followed', async () => {
    const gateway = await watchedGateway(`
      [[providers]]
      name = "p"
      kind = "openai"
      api_key_env = "P_KEY"
      models = [{ id = "m", fallbacks = ["n"] }, { id = "n", fallbacks = ["o"] }, { id = "o" }]
    `)
    gateway.upstream.always(status(401))
    await sendChat(gateway)
    expect(gateway.upstream.requests.map((_, at) => gateway.upstream.body(at))).toMatchObject([
      { model: 'm' },
      { model: 'n' },
    ])
  })
})

describe('timeouts', () => {
  test('the first-token timeout of a link covers all its attempts and waits', async () => {
    const gateway = await watchedGateway(
      makeChain([{ settings: 'first_token_timeout_ms = 1000' }], 'retry_base_ms = 800'),
    )
    gateway.upstream.next(status(500), silent())
    const pending = gateway.chat(request)
    await gateway.clock.advance(999)
    expect(gateway.upstream.requests).toHaveLength(2)
    expect(await isPending(pending)).toBe(true)
    await gateway.clock.advance(1)
    expect(await expectErrorShape(await pending)).toMatchObject({ code: 'LM-3011' })
  })

  test('the next link starts its own first-token timeout', async () => {
    const gateway = await watchedGateway(makeChain([{}, {}]))
    byProvider(gateway.upstream, { p: silent(), p2: silent() })
    const pending = gateway.chat(streamed())
    await gateway.clock.advance(120_000)
    expect(called(gateway.upstream)).toEqual(['p', 'p2'])
    await gateway.clock.advance(119_999)
    expect(await isPending(pending)).toBe(true)
    await gateway.clock.advance(1)
    expect((await pending).status).toBe(504)
  })

  test('the total timeout runs from the arrival over all links, each with its own limit', async () => {
    const gateway = await watchedGateway(
      makeChain([
        { settings: 'first_token_timeout_ms = 4000' },
        { settings: 'total_timeout_ms = 10000' },
      ]),
    )
    byProvider(gateway.upstream, { p: silent(), p2: silent() })
    const pending = gateway.chat(request)
    await gateway.clock.advance(9999)
    expect(await isPending(pending)).toBe(true)
    await gateway.clock.advance(1)
    expect(await expectErrorShape(await pending)).toMatchObject({ code: 'LM-3013' })
    expect(settlement(gateway.log)).toMatchObject({ latency_ms: 10_000, attempts: 2 })
  })

  test('a whole answer that stalls is a first-token timeout', async () => {
    const gateway = await watchedGateway(makeChain([{}]))
    gateway.upstream.next(async ({ signal }) => ({
      status: 200,
      header: () => 'application/json',
      body: {
        read: () =>
          new Promise<undefined>((resolve) => {
            signal.addEventListener('abort', () => resolve(undefined))
          }),
        cancel: () => {},
        drain: () => {},
      },
    }))
    const error = await expectErrorShape(await sendChat(gateway))
    expect(error.code).toBe('LM-3011')
  })

  test('a total timeout of one link leaves the next link its own time', async () => {
    const gateway = await watchedGateway(makeChain([cut, {}]))
    byProvider(gateway.upstream, { p: silent(), p2: answer })
    const pending = gateway.chat(request)
    await gateway.clock.advance(5000)
    expect((await pending).headers.get('x-gateway-provider')).toBe('p2')
  })

  test('each provider has its own connect timeout, and a dedicated pool when it is set', async () => {
    const gateway = await watchedGateway(
      makeChain([{}, { settings: 'connect_timeout_ms = 70' }], 'connect_timeout_ms = 900'),
    )
    byProvider(gateway.upstream, { p: status(401), p2: answer })
    await sendChat(gateway)
    expect(gateway.upstream.requests).toMatchObject([
      { connectTimeout: 900, dedicatedPool: false },
      { connectTimeout: 70, dedicatedPool: true },
    ])
  })
})

describe('messages of upstream errors', () => {
  test('the upstream’s message is cut to 300 characters after the key in it was masked', async () => {
    const gateway = await watchedGateway(makeChain([{}]))
    // The key spans the cut, so cutting first would leave half of it.
    const message = `${'x'.repeat(290)} ${providerKey} ${'y'.repeat(300)}`
    gateway.upstream.next(json({ error: { message } }, { status: 400 }))
    const error = await expectErrorShape(await sendChat(gateway))
    expect(error.message).not.toContain(providerKey.slice(0, 6))
    expect(error.message.length).toBeLessThan(400)
  })

  test('a key without any known shape is masked across the cut too', async () => {
    const secret = '0123456789abcdef0123456789abcdef'
    const gateway = await watchedGateway(makeChain([{}]), { env: { P_KEY: secret } })
    gateway.upstream.next(
      json({ error: { message: `${'x'.repeat(280)} ${secret}` } }, { status: 400 }),
    )
    const error = await expectErrorShape(await sendChat(gateway))
    expect(error.message).not.toContain(secret.slice(0, 6))
  })

  test('the markup of a proxy’s page is left out', async () => {
    const gateway = await watchedGateway(makeChain([{}], 'retry_max_attempts = 1'))
    gateway.upstream.next(
      whole('<!DOCTYPE html><h1>502 Bad Gateway</h1>', {
        status: 502,
        headers: { 'content-type': 'text/html' },
      }),
    )
    const error = await expectErrorShape(await sendChat(gateway))
    expect(error.message).toBe('provider p refused the request with status 502')
  })

  test.each([
    [400, 400],
    [500, 502],
  ])(
    'an error %i whose body never ends is handled by its status after a moment',
    async (code, shown) => {
      const gateway = await watchedGateway(makeChain([{}], 'retry_max_attempts = 1'))
      const queue = new BoundedQueue(1000)
      queue.push(new TextEncoder().encode('no, because'))
      gateway.upstream.next(async () => ({ status: code, header: () => undefined, body: queue }))
      const pending = gateway.chat(request)
      await gateway.clock.advance(2000)
      const response = await pending
      expect(response.status).toBe(shown)
      expect((await expectErrorShape(response)).message).toContain('no, because')
    },
  )

  test('an error whose body breaks off is handled by its status and by the part that arrived', async () => {
    const gateway = await watchedGateway(makeChain([{}, {}]))
    gateway.upstream.next(async () => {
      const pieces = [new TextEncoder().encode('bad request, because')]
      return {
        status: 400,
        header: () => undefined,
        body: {
          read: async () => {
            const piece = pieces.shift()
            if (!piece) throw new Error('reset')
            return piece
          },
          cancel: () => {},
          drain: () => {},
        },
      }
    })
    const response = await sendChat(gateway)
    expect(response.status).toBe(400)
    expect((await expectErrorShape(response)).message).toContain('bad request, because')
    expect(settlement(gateway.log)).toMatchObject({ attempts: 1 })
  })
})
