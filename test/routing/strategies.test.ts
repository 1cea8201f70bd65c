import { describe, expect, test } from 'vitest'
import { completion, done, hello, role, stop, wholeStream } from '../support/answers.ts'
import { byProvider } from '../support/chain.ts'
import type { TestGateway } from '../support/gateway.ts'
import type { ManualClock } from '../support/manual-clock.ts'
import {
  broken,
  json,
  LiveUpstream,
  type Responder,
  silent,
  stream,
} from '../support/scripted-upstream.ts'
import { randomFrom } from '../support/seeded-random.ts'
import { watchedGateway } from '../support/watched-gateway.ts'
import { chatBody, makeRoute, takeCalls } from './support.ts'

const answer = json(completion())

/** Answers after a while. */
function after(clock: ManualClock, delay: number, responder: Responder): Responder {
  return (request) =>
    new Promise((resolve) => {
      clock.schedule(delay, () => resolve(responder(request)))
    })
}

/** Sends a request, and waits until it is answered. */
async function send({ chat, clock }: TestGateway, more: object = {}): Promise<Response> {
  const pending = chat(chatBody(more))
  await clock.advance(2_000)
  const response = await pending
  await response.text()
  return response
}

describe('fastest', () => {
  const config = makeRoute({ strategy: 'fastest' })

  async function fastest(delays: readonly number[], responder: Responder = answer) {
    const gateway = await watchedGateway(config)
    const set = (next: readonly number[]) => {
      const [a = 0, b = 0, c = 0] = next.map((delay) => delay)
      byProvider(gateway.upstream, {
        a: after(gateway.clock, a, responder),
        b: after(gateway.clock, b, responder),
        c: after(gateway.clock, c, responder),
      })
    }
    set(delays)
    return { ...gateway, set }
  }

  test('each new target is tried first, then the fastest one', async () => {
    const gateway = await fastest([300, 100, 200])
    for (let at = 0; at < 5; at++) await send(gateway)
    expect(takeCalls(gateway.upstream)).toBe('abcbb')
  })

  test('a target that becomes slow is left as soon as its average is above the next', async () => {
    const gateway = await fastest([300, 100, 200])
    for (let at = 0; at < 3; at++) await send(gateway)
    gateway.set([300, 500, 200])
    takeCalls(gateway.upstream)
    // 100, then 220: 0.7 times 100 plus 0.3 times 500.
    for (let at = 0; at < 3; at++) await send(gateway)
    expect(takeCalls(gateway.upstream)).toBe('bcc')
  })

  test('streams are measured to their first content, apart from whole answers', async () => {
    const gateway = await fastest([300, 100, 200])
    for (let at = 0; at < 3; at++) await send(gateway)
    const streams = (delay: number) => after(gateway.clock, delay, stream([wholeStream]))
    byProvider(gateway.upstream, { a: streams(10), b: streams(30), c: streams(20) })
    takeCalls(gateway.upstream)
    for (let at = 0; at < 5; at++) await send(gateway, { stream: true })
    expect(takeCalls(gateway.upstream)).toBe('abcaa')
  })

  test('only one request at a time tries a new target', async () => {
    const gateway = await fastest([100, 100, 1_000])
    await send(gateway)
    await send(gateway)
    const pending = Array.from({ length: 4 }, () => gateway.chat(chatBody()))
    await gateway.clock.advance(1_000)
    for (const response of await Promise.all(pending)) await response.text()
    expect(takeCalls(gateway.upstream)).toBe('abcaaa')
  })

  test('a target that failed comes last, and is tried again after the cooldown', async () => {
    const gateway = await fastest([300, 100, 200])
    for (let at = 0; at < 3; at++) await send(gateway)
    takeCalls(gateway.upstream)
    const [a, c] = [300, 200].map((delay) => after(gateway.clock, delay, answer))
    byProvider(gateway.upstream, { a: a ?? answer, b: broken(), c: c ?? answer })
    await send(gateway)
    await send(gateway)
    expect(takeCalls(gateway.upstream)).toBe('bcc')
    gateway.set([300, 100, 200])
    await gateway.clock.advance(30_000)
    for (let at = 0; at < 2; at++) await send(gateway)
    expect(takeCalls(gateway.upstream)).toBe('bb')
  })

  test('a refused request says nothing about the speed of its target', async () => {
    const gateway = await fastest([300, 100, 200])
    byProvider(gateway.upstream, { a: json({}, { status: 400 }) })
    await send(gateway)
    gateway.set([300, 100, 200])
    await send(gateway)
    expect(takeCalls(gateway.upstream)).toBe('aa')
  })

  test('a target that nobody has measured for five minutes is tried again', async () => {
    const gateway = await fastest([300, 100, 200])
    for (let at = 0; at < 3; at++) await send(gateway)
    takeCalls(gateway.upstream)
    await gateway.clock.advance(290_000)
    await send(gateway)
    await gateway.clock.advance(10_000)
    for (let at = 0; at < 3; at++) await send(gateway)
    expect(takeCalls(gateway.upstream)).toBe('bacb')
  })
})

describe('cheapest', () => {
  const prices = (input: number, output: number, more = '') =>
    `cost_per_1m_input = ${input}, cost_per_1m_output = ${output}${more}`
  const ask = async (models: readonly string[], more: object) => {
    const config = makeRoute({ strategy: 'cheapest', weights: [1, 1], models })
    const gateway = await watchedGateway(config)
    gateway.upstream.always(answer)
    await gateway.chat(chatBody(more))
    return takeCalls(gateway.upstream)
  }

  test('the reservation of the request decides, not the prices alone', async () => {
    const models = [prices(1, 10), prices(5, 1)]
    expect(await ask(models, { max_tokens: 1_000 })).toBe('b')
    const long = [{ role: 'user', content: 'x'.repeat(40_000) }]
    expect(await ask(models, { max_tokens: 1, messages: long })).toBe('a')
  })

  test('without a bound, the limit of the model counts', async () => {
    expect(await ask([prices(1, 2, ', max_output_tokens = 1000'), prices(1, 3)], {})).toBe('b')
    expect(await ask([prices(1, 2), prices(1, 3)], {})).toBe('a')
  })

  test('rerank counts its searches', async () => {
    const search = (price: number) => `capabilities = ["rerank"], cost_per_1k_searches = ${price}`
    const config = makeRoute({
      strategy: 'cheapest',
      weights: [1, 1],
      kinds: ['jina', 'jina'],
      models: [search(2), search(1)],
    })
    const { get, upstream } = await watchedGateway(config)
    upstream.always(json({ results: [{ index: 0, relevance_score: 1 }] }))
    const body = JSON.stringify({ model: 'r', query: 'x', documents: ['y'] })
    await get('/v1/rerank', { method: 'POST', body })
    expect(takeCalls(upstream)).toBe('b')
  })
})

describe('least_busy', () => {
  const patient = 'retry_max_attempts = 1\ncircuit_failure_threshold = 1000000'
  const config = makeRoute({ strategy: 'least_busy', resilience: patient })

  /** How a running stream may end. */
  const ends = ['complete', 'torn', 'left', 'cancelled'] as const

  test('the counts are exact under concurrency and after every kind of end', async () => {
    const random = randomFrom(17)
    const pick = <Item>(items: readonly Item[]) => items[Math.floor(random() * items.length)]
    const gateway = await watchedGateway(config)
    const { upstream, chat, clock } = gateway
    const counts = new Map([
      ['a', 0],
      ['b', 0],
      ['c', 0],
    ])
    const running: {
      live: LiveUpstream
      client: AbortController
      target: string
      response: Response
    }[] = []
    const order = () =>
      [...counts.keys()].sort((x, y) => (counts.get(x) ?? 0) - (counts.get(y) ?? 0))

    const begin = async () => {
      const [first = '', second = ''] = order()
      const isFirstDown = random() < 0.2
      const live = new LiveUpstream()
      live.push(role + hello)
      if (isFirstDown) upstream.next(broken())
      upstream.next(live.responder)
      const client = new AbortController()
      const response = await chat(chatBody({ stream: true }), { signal: client.signal })
      expect(takeCalls(upstream)).toBe(isFirstDown ? first + second : first)
      const target = isFirstDown ? second : first
      counts.set(target, (counts.get(target) ?? 0) + 1)
      running.push({ live, client, target, response })
    }
    const end = async () => {
      const [one] = running.splice(Math.floor(random() * running.length), 1)
      if (!one) return
      const { live, client, target, response } = one
      const kind = pick(ends)
      if (kind === 'left') client.abort()
      else if (kind === 'cancelled') await response.body?.cancel()
      else {
        if (kind === 'complete') live.push(stop + done)
        if (kind === 'complete') live.end()
        else live.fail({ kind: 'network', reason: 'ECONNRESET' })
        await response.text()
      }
      await clock.advance(0)
      counts.set(target, (counts.get(target) ?? 0) - 1)
    }
    for (let step = 0; step < 400; step++) {
      if (running.length < 12 && random() < 0.55) await begin()
      else await end()
    }
    while (running.length > 0) await end()
    expect([...counts.values()]).toEqual([0, 0, 0])
    await begin()
    await end()
  })

  test.each<readonly [string, Responder, number]>([
    ['answered', answer, 200],
    ['refused', json({}, { status: 400 }), 400],
    ['timed out', silent(), 504],
  ])('a whole request that was %s is no longer counted', async (_, responder, status) => {
    const limited = makeRoute({
      strategy: 'least_busy',
      resilience: `${patient}\ntotal_timeout_ms = 1000`,
    })
    const gateway = await watchedGateway(limited)
    gateway.upstream.always(responder)
    for (let at = 0; at < 3; at++) expect((await send(gateway)).status).toBe(status)
    expect(takeCalls(gateway.upstream)).toBe('aaa')
  })

  test('requests that arrive together are spread', async () => {
    const gateway = await watchedGateway(config)
    gateway.upstream.always(after(gateway.clock, 500, answer))
    const pending = Array.from({ length: 6 }, () => gateway.chat(chatBody()))
    await gateway.clock.advance(500)
    for (const response of await Promise.all(pending)) await response.text()
    expect(takeCalls(gateway.upstream)).toBe('abcabc')
  })

  test('requests that name a target itself count too', async () => {
    const gateway = await watchedGateway(config)
    gateway.upstream.always(after(gateway.clock, 500, answer))
    const direct = gateway.chat({ ...chatBody(), model: 'a' })
    const routed = gateway.chat(chatBody())
    await gateway.clock.advance(500)
    for (const response of await Promise.all([direct, routed])) await response.text()
    expect(takeCalls(gateway.upstream)).toBe('ab')
  })
})
