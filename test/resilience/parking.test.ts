import { describe, expect, test } from 'vitest'
import { completion } from '../support/answers.ts'
import { called } from '../support/chain.ts'
import { expectErrorShape } from '../support/contract.ts'
import { settled } from '../support/manual-clock.ts'
import { broken, json, type Responder, silent } from '../support/scripted-upstream.ts'
import {
  answer,
  byVariable,
  env,
  listVariables,
  provider,
  refuse,
  request,
  sendTimes,
  withFallback,
} from '../support/several-keys.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const three = provider().replace('"B"', '"B", "C"')
const quota = json(
  { error: { message: 'upstream says quota', code: 'insufficient_quota' } },
  { status: 429, headers: { 'retry-after': '5' } },
)
const tooLarge = json(
  {
    error: {
      message:
        'Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 45000. The input or output tokens must be reduced in order to run successfully.',
      type: 'tokens',
      code: 'rate_limit_exceeded',
    },
  },
  { status: 429, headers: { 'retry-after': '5' } },
)

/** Refuses a request whose prompt is `bad`; answers others. */
function ofBad(responder: Responder): Responder {
  return (call) =>
    (new TextDecoder().decode(call.body).includes('"bad"') ? responder : answer)(call)
}
const bad = { model: 'm', messages: [{ role: 'user', content: 'bad' }] }

describe('a request that two credentials are refused for alike', () => {
  test.each([401, 402, 403, 407])('a %i parks neither, and no third is asked', async (status) => {
    const gateway = await watchedGateway(three, { env })
    gateway.upstream.always(ofBad(refuse(status)))
    const response = await gateway.chat(bad)
    expect(response.status).toBe(502)
    expect(response.headers.get('x-gateway-attempts')).toBe('2')
    expect(await expectErrorShape(response)).toMatchObject({
      code: 'LM-3003',
      message: `provider p refused the request with status ${status}: upstream says ${status}`,
    })
    // The threshold of the circuit is 1: the refusals are not the provider's fault.
    expect(await sendTimes(gateway, 3)).toEqual([200, 200, 200])
    expect(listVariables(gateway.upstream)).toEqual(['A', 'B', 'B', 'C', 'A'])
    expect(gateway.log.filter(({ message }) => message === 'credential parked')).toEqual([])
  })

  test('it goes on to the next link', async () => {
    const gateway = await watchedGateway(withFallback, { env })
    gateway.upstream.next(refuse(401), refuse(401), answer)
    expect(await sendTimes(gateway, 1)).toEqual([200])
    expect(called(gateway.upstream)).toEqual(['p', 'p', 'f'])
  })

  test('with different statuses nothing is parked until another one is answered', async () => {
    const gateway = await watchedGateway(three.replace('threshold = 1', 'threshold = 9'), { env })
    byVariable(gateway.upstream, { A: refuse(401), B: refuse(403), C: refuse(402) })
    await sendTimes(gateway, 1)
    byVariable(gateway.upstream, { A: refuse(401), B: refuse(403) })
    await sendTimes(gateway, 3)
    const calls = ['A', 'B', 'C', 'B', 'C', 'C', 'A', 'C']
    expect(listVariables(gateway.upstream)).toEqual(calls)
  })

  test('a refusal counts when another credential gets an answer, also one that blames the request', async () => {
    for (const [other, isParked] of [
      [answer, true],
      [refuse(400), true],
      [broken(), false],
    ] as const) {
      const gateway = await watchedGateway(provider().replace('threshold = 1', 'threshold = 9'), {
        env,
      })
      byVariable(gateway.upstream, { A: refuse(403), B: other })
      await sendTimes(gateway, 3)
      const variables = listVariables(gateway.upstream)
      expect(variables.filter((each) => each === 'A')).toHaveLength(isParked ? 1 : 2)
    }
  })

  test('a client that leaves before another credential has answered parks nothing', async () => {
    const gateway = await watchedGateway(provider(), { env })
    gateway.upstream.next(refuse(403), silent())
    const client = new AbortController()
    const pending = gateway.chat(request, { signal: client.signal })
    await settled()
    client.abort()
    await pending
    gateway.upstream.always(answer)
    await sendTimes(gateway, 2)
    expect(listVariables(gateway.upstream)).toEqual(['A', 'B', 'B', 'A'])
  })
})

describe('the requests of one client', () => {
  test.each([
    ['403 because of what is asked', refuse(403)],
    ['401 because of a header or file', refuse(401)],
    ['402 because of the length that is asked for', refuse(402)],
    ['429 because of the size', tooLarge],
    ['429 for a day', refuse(429, { 'retry-after': '86400' })],
    ['a spent quota', quota],
  ])('never take the provider from others: %s', async (_, responder) => {
    const config = provider().replace('threshold = 1', 'threshold = 3')
    for (const keys of ['"A", "B"', '"A", "B", "C"']) {
      const gateway = await watchedGateway(config.replace('"A", "B"', keys), { env })
      gateway.upstream.always(ofBad(responder))
      for (let at = 0; at < 12; at++) {
        expect((await gateway.chat(bad)).status).not.toBe(200)
        expect(await sendTimes(gateway, 1)).toEqual([200])
        await gateway.clock.advance(20_000)
      }
    }
  })
})

describe('a credential that has come back and has not succeeded yet', () => {
  const config = provider().replace('threshold = 1', 'threshold = 3')

  /** A was refused a minute ago, and still is. B is next. */
  async function openHalfRecovered(keys = '"A", "B"') {
    const gateway = await watchedGateway(config.replace('"A", "B"', keys), { env })
    byVariable(gateway.upstream, { A: refuse(401) })
    await sendTimes(gateway, 1)
    await gateway.clock.advance(60_000)
    gateway.upstream.requests.length = 0
    return gateway
  }

  test.each([
    ['403 because of what is asked', refuse(403)],
    ['402 because of the length that is asked for', refuse(402)],
    ['429 for a day', refuse(429, { 'retry-after': '86400' })],
    ['a spent quota', quota],
  ])('is no reason to park another one: %s', async (_, responder) => {
    const gateway = await openHalfRecovered()
    byVariable(gateway.upstream, { A: refuse(401), B: ofBad(responder) })
    expect((await gateway.chat(bad)).status).not.toBe(200)
    expect(listVariables(gateway.upstream)).toEqual(['B', 'A'])
    for (let at = 0; at < 5; at++) {
      expect(await sendTimes(gateway, 1)).toEqual([200])
      await gateway.chat(bad)
      await gateway.clock.advance(30_000)
    }
  })

  test('is parked again when another one is answered, and counts as usable after a success', async () => {
    const gateway = await openHalfRecovered()
    byVariable(gateway.upstream, {})
    await sendTimes(gateway, 2)
    byVariable(gateway.upstream, { B: refuse(429, { 'retry-after': '9' }) })
    await sendTimes(gateway, 4)
    expect(listVariables(gateway.upstream)).toEqual(['B', 'A', 'B', 'A', 'A', 'A', 'A'])
  })
})

test('a rate limit does not park the last credential with which a request was not refused', async () => {
  const config = provider().replace('threshold = 1', 'threshold = 9')
  const gateway = await watchedGateway(config, { env })
  const limited = refuse(429, { 'retry-after': '300' })
  byVariable(gateway.upstream, { A: refuse(401), B: limited })
  expect(await sendTimes(gateway, 1)).toEqual([429])
  byVariable(gateway.upstream, { A: refuse(401) })
  expect(await sendTimes(gateway, 2)).toEqual([200, 200])
})

describe('the time of a parking', () => {
  test('doubles to an hour with each refusal, and begins anew after a success', async () => {
    const gateway = await watchedGateway(provider(), { env })
    byVariable(gateway.upstream, { A: refuse(401) })
    const waits = async (times: number) => {
      const found: unknown[] = []
      for (let at = 0; at < times; at++) {
        await sendTimes(gateway, 2)
        const { fields } =
          gateway.log.findLast(({ message }) => message === 'credential parked') ?? {}
        const wait = Number(fields?.['wait_ms'])
        expect(wait).toBeGreaterThan(0)
        found.push(wait / 60_000)
        gateway.upstream.requests.length = 0
        await gateway.clock.advance(wait - 1)
        await sendTimes(gateway, 2)
        expect(listVariables(gateway.upstream)).not.toContain('A')
        await gateway.clock.advance(1)
      }
      return found
    }
    expect(await waits(8)).toEqual([1, 2, 4, 8, 16, 32, 60, 60])
    byVariable(gateway.upstream, {})
    await sendTimes(gateway, 2)
    byVariable(gateway.upstream, { A: refuse(401) })
    expect(await waits(2)).toEqual([1, 2])
  })

  test('a success with one model does not end the count of another', async () => {
    const gateway = await watchedGateway(provider(), { env })
    const wait = () =>
      gateway.log.findLast(({ message }) => message === 'credential parked')?.fields['wait_ms']
    const forM: Responder = (call) =>
      (new TextDecoder().decode(call.body).includes('"m"') ? refuse(403) : answer)(call)
    byVariable(gateway.upstream, { A: forM })
    await sendTimes(gateway, 1)
    await gateway.clock.advance(60_000)
    await gateway.chat({ ...request, model: 'other' })
    await gateway.chat({ ...request, model: 'other' })
    await sendTimes(gateway, 2)
    expect(wait()).toBe(120_000)
  })

  test('requests that are refused together count as one refusal', async () => {
    const gateway = await watchedGateway(provider(), { env })
    byVariable(gateway.upstream, { A: refuse(401) })
    await Promise.all(Array.from({ length: 8 }, () => gateway.chat(request)))
    const parked = gateway.log.filter(({ message }) => message === 'credential parked')
    expect(parked.map(({ fields }) => fields['wait_ms'])).toEqual([60_000])
  })

  test('an answer to an earlier call does not bring the credential back', async () => {
    const gateway = await watchedGateway(provider(), { env })
    let finish: (() => void) | undefined
    const late: Responder = (call) =>
      new Promise((resolve) => {
        finish = () => resolve(answer(call))
      })
    gateway.upstream.next(late)
    const pending = gateway.chat(request)
    await settled()
    byVariable(gateway.upstream, { A: refuse(401) })
    await sendTimes(gateway, 2)
    finish?.()
    expect((await pending).status).toBe(200)
    await sendTimes(gateway, 2)
    expect(listVariables(gateway.upstream)).toEqual(['A', 'B', 'A', 'B', 'B', 'B'])
  })

  test.each([
    ['86400', 300_000],
    ['301', 300_000],
    ['299', 299_000],
  ])('a Retry-After of %s s parks for %i ms', async (seconds, wait) => {
    const gateway = await watchedGateway(provider(), { env })
    byVariable(gateway.upstream, { A: refuse(429, { 'retry-after': seconds }) })
    await sendTimes(gateway, 1)
    await gateway.clock.advance(wait - 1)
    await sendTimes(gateway, 2)
    expect(listVariables(gateway.upstream)).toEqual(['A', 'B', 'B', 'B'])
    await gateway.clock.advance(1)
    await sendTimes(gateway, 2)
    expect(listVariables(gateway.upstream).slice(4)).toContain('A')
  })

  test('a spent quota parks as a 402 does, without regard to Retry-After', async () => {
    const gateway = await watchedGateway(provider(), { env })
    byVariable(gateway.upstream, { A: quota })
    await sendTimes(gateway, 1)
    const parked = gateway.log.find(({ message }) => message === 'credential parked')
    expect(parked?.fields).toMatchObject({ model: 'm', status: 402, wait_ms: 60_000 })
  })
})

describe('a rate limit that names the size of the request', () => {
  test('parks nothing, and another credential may have a higher limit', async () => {
    const gateway = await watchedGateway(three, { env })
    byVariable(gateway.upstream, { A: tooLarge })
    expect(await sendTimes(gateway, 1)).toEqual([200])
    gateway.upstream.always(tooLarge)
    const response = await gateway.chat(request)
    expect([response.status, response.headers.get('x-gateway-attempts')]).toEqual([429, '2'])
    expect(response.headers.get('retry-after')).toBeNull()
    expect(response.headers.get('x-should-retry')).toBe('false')
    gateway.upstream.always(answer)
    await sendTimes(gateway, 3)
    expect(listVariables(gateway.upstream)).toEqual(['A', 'B', 'B', 'C', 'C', 'A', 'B'])
  })

  test('does not count for the circuit, and goes on to the next link without a retry', async () => {
    const config = withFallback.replace('attempts = 1', 'attempts = 3')
    const gateway = await watchedGateway(config.replace('["A", "B"]', '["A"]'), { env })
    gateway.upstream.next(tooLarge, answer, answer)
    expect(await sendTimes(gateway, 2)).toEqual([200, 200])
    expect(called(gateway.upstream)).toEqual(['p', 'f', 'p'])
  })

  test('a limit that other requests have used up is an ordinary one', async () => {
    const gateway = await watchedGateway(provider(), { env })
    const used = {
      error: {
        message: 'Rate limit reached for gpt-4o on TPM: Limit 30000, Used 29000, Requested 2000.',
        type: 'tokens',
        code: 'rate_limit_exceeded',
      },
    }
    byVariable(gateway.upstream, { A: json(used, { status: 429 }), B: json(completion()) })
    await sendTimes(gateway, 3)
    expect(listVariables(gateway.upstream)).toEqual(['A', 'B', 'B', 'B'])
  })
})
