import { describe, expect, test } from 'vitest'
import { done, hello, role, stop, usageChunk } from '../support/answers.ts'
import {
  type Answer,
  errorIn,
  keyedGateway,
  pricedProvider,
  prompt,
  used,
} from '../support/keyed-gateway.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { json, stream } from '../support/scripted-upstream.ts'
import { streamed } from '../support/stream-client.ts'

/** A clock that starts `millis` milliseconds into a minute. */
const clockAt = (millis: number) => new ManualClock(1_764_000_000_000 + millis)

function rateHeaders({ headers }: Pick<Answer, 'headers'>): Record<string, string> {
  const named = [...headers].filter(([name]) => name.startsWith('x-ratelimit-'))
  return Object.fromEntries(
    named.map(([name, value]) => [name.slice('x-ratelimit-'.length), value]),
  )
}

/** A gateway that shares its clock with the test, `millis` milliseconds into a minute. */
async function gatewayAt(millis: number, config = pricedProvider) {
  const clock = clockAt(millis)
  return { ...(await keyedGateway(config, { clock })), clock }
}

describe('requests per minute', () => {
  test('a key gets exactly its limit of requests in each minute of the wall clock', async () => {
    const { key, ask, upstream, clock } = await gatewayAt(30_000)
    const held = await key({ rpm_limit: 3 })
    upstream.always(used(8))
    const statuses = async () => {
      const answers = await Promise.all([1, 2, 3, 4, 5].map(() => ask(held, prompt())))
      return answers.map(({ status }) => status).sort()
    }
    expect(await statuses()).toEqual([200, 200, 200, 429, 429])
    await clock.advance(29_999)
    expect((await ask(held, prompt())).status).toBe(429)
    await clock.advance(1)
    expect(await statuses()).toEqual([200, 200, 200, 429, 429])
  })

  test('a refusal says how long to wait', async () => {
    const { key, ask, upstream } = await gatewayAt(14_600)
    const held = await key({ rpm_limit: 1, tpm_limit: 1000 })
    upstream.always(used(8))
    await ask(held, prompt())
    const refused = await ask(held, prompt())
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('46')
    expect(refused.headers.get('x-should-retry')).toBe(null)
    expect(errorIn(refused)).toEqual({
      code: 'LM-4002',
      type: 'invalid_request',
      message: "the key's limit of 1 requests per minute is reached",
      param: null,
      request_id: expect.any(String),
      retry_after: 46,
      scope: 'key',
    })
    expect(rateHeaders(refused)).toEqual({
      'limit-requests': '1',
      'remaining-requests': '0',
      'limit-tokens': '1000',
      'remaining-tokens': '992',
    })
  })

  test('a key with a limit of 0 requests is refused for good', async () => {
    const { key, ask } = await keyedGateway()
    const refused = await ask(await key({ rpm_limit: 0 }), prompt())
    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(errorIn(refused)).toMatchObject({
      message: "the key's request limit is 0: every request is refused",
    })
  })

  test('requests for models count; lists and refused requests do not', async () => {
    const { key, ask, get, upstream } = await keyedGateway()
    const held = await key({ rpm_limit: 2, tpm_limit: 100 })
    upstream.always(used(8))
    for (let i = 0; i < 5; i++) {
      const { headers } = held
      expect(rateHeaders(await get('/v1/models', { headers }))).toEqual({})
      expect((await ask(held, prompt(500))).status).toBe(429)
    }
    const answer = await ask(held, prompt())
    expect(rateHeaders(answer)).toMatchObject({ 'remaining-requests': '1' })
  })
})

describe('tokens per minute', () => {
  test('admission debits the prompt and the output bound of the request', async () => {
    const { key, ask, upstream } = await gatewayAt(0)
    const held = await key({ tpm_limit: 100 })
    upstream.always(used(1))
    const left: unknown[] = []
    for (const bounds of [{}, { max_tokens: 50 }, { max_completion_tokens: 60, max_tokens: 50 }]) {
      left.push(rateHeaders(await ask(held, prompt(10, bounds)))['remaining-tokens'])
    }
    // After each request the debit is corrected to the usage: one token.
    expect(left).toEqual(['90', '39', '28'])
  })

  test('the debit is adjusted to actual usage while its minute lasts', async () => {
    const { key, ask, upstream } = await gatewayAt(0)
    const held = await key({ tpm_limit: 100 })
    upstream.next(used(30, 20), used(1, 0))
    await ask(held, prompt(10, { max_tokens: 5 }))
    expect(rateHeaders(await ask(held, prompt()))).toEqual({
      'limit-tokens': '100',
      'remaining-tokens': '42',
    })
  })

  test('a request that outlasts its minute keeps its debit in that minute', async () => {
    const { key, ask, upstream, clock } = await gatewayAt(59_000)
    const held = await key({ tpm_limit: 100 })
    upstream.next(
      async (request) => {
        await clock.advance(2_000)
        await ask(held, prompt(10))
        return used(90)(request)
      },
      used(1),
      used(1),
    )
    await ask(held, prompt())
    expect(rateHeaders(await ask(held, prompt(10)))['remaining-tokens']).toBe('89')
  })

  test('a refusal says how many tokens are missing and how long to wait', async () => {
    const { key, ask, upstream } = await gatewayAt(1_000)
    const held = await key({ tpm_limit: 100, rpm_limit: 9 })
    upstream.next(used(95))
    await ask(held, prompt())
    const refused = await ask(held, prompt(10, { max_tokens: 20 }))
    expect(refused.status).toBe(429)
    expect(refused.headers.get('retry-after')).toBe('59')
    expect(errorIn(refused)).toMatchObject({
      code: 'LM-4003',
      message: "the key's limit of 100 tokens per minute is reached: this request needs 30",
      retry_after: 59,
    })
    // The refused request is not one of the nine.
    expect(rateHeaders(refused)).toMatchObject({
      'remaining-requests': '8',
      'remaining-tokens': '5',
    })
  })

  test('a request that needs more than the whole limit is refused for good', async () => {
    const { key, ask } = await keyedGateway()
    const refused = await ask(await key({ tpm_limit: 100 }), prompt(8, { max_tokens: 93 }))
    expect(refused.headers.get('x-should-retry')).toBe('false')
    expect(errorIn(refused)).toMatchObject({
      code: 'LM-4003',
      message: 'this request needs 101 tokens; the key allows 100 per minute',
    })
  })
})

describe('rate limit headers', () => {
  test('streams carry the rate limit headers', async () => {
    const { key, chat, upstream } = await keyedGateway()
    const { headers } = await key({ rpm_limit: 5, tpm_limit: 100 })
    upstream.next(stream([role, hello, stop, usageChunk, done]))
    const response = await chat(streamed(), { headers })
    expect(rateHeaders(response)).toEqual({
      'limit-requests': '5',
      'remaining-requests': '4',
      'limit-tokens': '100',
      'remaining-tokens': '92',
    })
    await response.text()
  })

  test('only the limits that are set have headers, and only on admitted requests', async () => {
    const { key, ask, upstream } = await keyedGateway(
      `[resilience]\nretry_max_attempts = 1\n${pricedProvider}`,
    )
    upstream.next(used(8), used(8), json({}, { status: 500 }))
    expect(rateHeaders(await ask(await key(), prompt()))).toEqual({})
    const held = await key({ rpm_limit: 5 })
    expect(Object.keys(rateHeaders(await ask(held, prompt())))).toEqual([
      'limit-requests',
      'remaining-requests',
    ])
    expect(rateHeaders(await ask(held, prompt()))).toEqual({})
  })
})
