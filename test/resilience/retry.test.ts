import * as fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { UpstreamFailure } from '../../src/core/failure.ts'
import { backoff } from '../../src/resilience/retry.ts'
import { completion } from '../support/answers.ts'
import { called, makeChain, timed } from '../support/chain.ts'
import { expectErrorShape } from '../support/contract.ts'
import { isPending } from '../support/pending.ts'
import { broken, json, type Responder, whole } from '../support/scripted-upstream.ts'
import { settlement } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }
const answer = json(completion())
const busy = (headers: Record<string, string> = {}, status = 503) => json({}, { status, headers })
const longTime = 10 * 60_000

interface Run {
  readonly config?: string
  readonly random?: number
  readonly script: readonly Responder[]
}

/** The times of the calls of one request, and its outcome. */
async function recordCalls({ config = makeChain([{}]), random = 0, script }: Run) {
  const times: number[] = []
  const { chat, upstream, clock, log } = await watchedGateway(config, { random: () => random })
  upstream.next(...script.map((responder) => timed(clock, times, responder)))
  const pending = chat(request)
  await clock.advance(longTime)
  const response = await pending
  return { times, status: response.status, line: settlement(log), response }
}

describe('attempts on one link', () => {
  const retryable: readonly (readonly [string, Responder])[] = [
    ['a refused connection', broken()],
    ['a connect timeout', broken({ kind: 'timeout', limit: 'connect' })],
    ['a read timeout', broken({ kind: 'timeout', limit: 'read' })],
    ['status 408', busy({}, 408)],
    ['status 429', busy({}, 429)],
    ['status 500', busy({}, 500)],
    ['status 502', busy({}, 502)],
    ['status 503', busy({}, 503)],
    ['status 504', busy({}, 504)],
    ['status 529', busy({}, 529)],
    ['status 599', busy({}, 599)],
    ['a redirect', busy({ location: 'https://elsewhere.test' }, 307)],
    ['an answer that is not JSON', whole('<html>')],
    ['an empty answer', whole('')],
    ['an answer without choices', json({ id: 'x' })],
    ['an answer that is an array', json([])],
    ['an answer that is an error', json({ error: { message: 'boom' } })],
  ]

  test.each(retryable)('%s is tried three times in all', async (_, failure) => {
    const { times, line } = await recordCalls({ script: [failure, failure, answer] })
    expect(times).toEqual([0, 100, 300])
    expect(line).toMatchObject({ status: 200, attempts: 3, latency_ms: 300 })
  })

  test.each(retryable)('%s is not tried a fourth time', async (_, failure) => {
    const { times, line } = await recordCalls({ script: [failure, failure, failure, answer] })
    expect(times).toHaveLength(3)
    expect(line).toMatchObject({ attempts: 3 })
    expect(line['status']).toBeGreaterThanOrEqual(429)
  })

  test.each([1, 2, 7])('a link gets exactly retry_max_attempts attempts: %i', async (attempts) => {
    const { times } = await recordCalls({
      config: makeChain([{}], `retry_max_attempts = ${attempts}\ncircuit_failure_threshold = 100`),
      script: Array<Responder>(attempts + 1).fill(busy()),
    })
    expect(times).toHaveLength(attempts)
  })

  test.each([400, 404, 405, 409, 410, 415, 418, 422, 451, 499])(
    'status %i is the client’s own error and is not retried',
    async (status) => {
      const { times, ...run } = await recordCalls({ script: [busy({}, status)] })
      expect(times).toHaveLength(1)
      expect(run.status).toBe(status)
      expect(await expectErrorShape(run.response)).toMatchObject({ code: 'LM-3003' })
    },
  )

  test.each([401, 402, 403])('status %i would recur and is not retried', async (status) => {
    const { times, ...run } = await recordCalls({ script: [busy({}, status)] })
    expect(times).toHaveLength(1)
    expect(run.status).toBe(502)
  })

  test('a request that succeeded is not repeated', async () => {
    const { times } = await recordCalls({ script: [answer, answer] })
    expect(times).toEqual([0])
  })
})

describe('the wait before a retry', () => {
  const policy = { maxAttempts: 10, base: 200, max: 5000 }

  test.each([
    ['half of it is fixed', 0, [0, 100, 300, 700, 1500, 3100, 5600, 8100]],
    ['the other half is chance', 0.5, [0, 150, 450, 1050, 2250, 4650, 8400, 12_150]],
  ])('the wait doubles up to retry_max_ms: %s', async (_, random, expected) => {
    const { times } = await recordCalls({
      config: makeChain([{}], 'retry_max_attempts = 8\ncircuit_failure_threshold = 100'),
      random,
      script: Array<Responder>(8).fill(busy()),
    })
    expect(times).toEqual(expected)
  })

  test('the wait is at least half and less than the whole of its ceiling, for any policy', () => {
    fc.assert(
      fc.property(
        fc.nat(60_000),
        fc.nat(600_000),
        fc.integer({ min: 1, max: 100 }),
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (base, max, failures, chance) => {
          const ceiling = Math.min(max, base * 2 ** (failures - 1))
          const wait = backoff({ ...policy, baseWait: base, maxWait: max }, failures, () => chance)
          expect(wait).toBeGreaterThanOrEqual(ceiling / 2)
          expect(wait).toBeLessThanOrEqual(ceiling)
          expect(Number.isFinite(wait)).toBe(true)
        },
      ),
    )
  })

  test('the wait may be zero', async () => {
    const { times } = await recordCalls({
      config: makeChain([{}], 'retry_base_ms = 0'),
      script: [busy(), busy(), answer],
    })
    expect(times).toEqual([0, 0, 0])
  })
})

describe('Retry-After is the minimum wait', () => {
  // The test clock starts at 2025-11-24T16:00:00Z.
  test.each([
    ['seconds', { 'retry-after': '2' }, 2000],
    ['seconds with a fraction', { 'retry-after': '1.25' }, 1250],
    ['seconds with white space', { 'retry-after': ' 2 ' }, 2000],
    ['an HTTP date', { 'retry-after': 'Mon, 24 Nov 2025 16:00:07 GMT' }, 7000],
    ['milliseconds', { 'retry-after-ms': '1234' }, 1234],
    ['milliseconds, which are finer', { 'retry-after': '2', 'retry-after-ms': '1500' }, 1500],
    ['useless milliseconds beside seconds', { 'retry-after': '2', 'retry-after-ms': 'soon' }, 2000],
    ['less than the wait itself', { 'retry-after-ms': '40' }, 100],
    ['zero', { 'retry-after': '0' }, 100],
    ['a date in the past', { 'retry-after': 'Mon, 24 Nov 2025 15:00:00 GMT' }, 100],
    ['a negative number', { 'retry-after': '-5' }, 100],
    ['neither a number nor a date', { 'retry-after': 'soon' }, 100],
    ['nothing', { 'retry-after': '' }, 100],
    ['Infinity', { 'retry-after': 'Infinity' }, 100],
  ])('Retry-After is read as %s', async (_, headers, wait) => {
    for (const status of [429, 503]) {
      const { times } = await recordCalls({ script: [busy(headers, status), answer] })
      expect(times).toEqual([0, wait])
    }
  })

  test('jitter does not shorten Retry-After, and lengthens only shorter waits', async () => {
    const { times } = await recordCalls({
      random: 0.999,
      script: [busy({ 'retry-after': '2' }), answer],
    })
    expect(times).toEqual([0, 2000])
  })

  test('a 4xx that is returned is not retried, even if it names a wait', async () => {
    const { times } = await recordCalls({ script: [busy({ 'retry-after': '2' }, 400), answer] })
    expect(times).toEqual([0])
  })

  test.each([
    ['past the deadline', '601'],
    ['at the deadline', '600'],
    ['far past the deadline', '999999999999'],
    ['a date next year', 'Tue, 24 Nov 2026 16:00:00 GMT'],
  ])(
    'a wait that is %s is not waited for: the error is returned now, with the wait',
    async (_, value) => {
      const { chat, upstream } = await watchedGateway(makeChain([{}]))
      upstream.next(busy({ 'retry-after': value }, 429))
      const response = await chat(request)
      expect(response.status).toBe(429)
      const error = await expectErrorShape(response)
      expect(error).toMatchObject({ code: 'LM-3001', type: 'upstream_error' })
      expect(error.retry_after).toBeGreaterThanOrEqual(600)
      expect(response.headers.get('x-should-retry')).toBeNull()
    },
  )

  test('a wait past the deadline sends the request to the next link at once', async () => {
    const { chat, upstream } = await watchedGateway(makeChain([{}, {}]))
    upstream.next(busy({ 'retry-after': '601' }, 429), answer)
    const response = await chat(request)
    expect(response.status).toBe(200)
    expect(called(upstream)).toEqual(['p', 'p2'])
  })

  test('a wait just before the deadline is waited for', async () => {
    const config = makeChain([{ settings: 'total_timeout_ms = 10000' }])
    const { times } = await recordCalls({
      config,
      script: [busy({ 'retry-after-ms': '9999' }), answer],
    })
    expect(times).toEqual([0, 9999])
  })
})

test('a retry sends the client’s request unchanged', async () => {
  const { chat, upstream, clock } = await watchedGateway(makeChain([{}]))
  upstream.next(busy(), busy(), answer)
  const body = '{ "model" : "m","messages":[{"role":"user"}],"seed":1e400}'
  const pending = chat(body)
  await clock.advance(1000)
  await pending
  expect([upstream.text(0), upstream.text(1), upstream.text(2)]).toEqual([body, body, body])
})

test('a retry is not made early', async () => {
  const { chat, upstream, clock } = await watchedGateway(makeChain([{}]))
  upstream.next(busy(), answer)
  const pending = chat(request)
  await clock.advance(99)
  expect(upstream.requests).toHaveLength(1)
  expect(await isPending(pending)).toBe(true)
  await clock.advance(1)
  expect((await pending).status).toBe(200)
})

test('the last failure of a link is the one that is reported', async () => {
  const timeout: UpstreamFailure = { kind: 'timeout', limit: 'connect' }
  const { response } = await recordCalls({ script: [broken(), busy(), broken(timeout)] })
  expect(await expectErrorShape(response)).toMatchObject({ code: 'LM-3012' })
})
