import { describe, expect, test } from 'vitest'
import { nodeDigest } from '../../adapters/node/process/system.ts'
import { completion, wholeStream } from '../support/answers.ts'
import { cachedProvider, cacheHeaders, cacheOn } from '../support/cached.ts'
import { embed, vectors } from '../support/embed.ts'
import { series } from '../support/exposition.ts'
import { oneProvider, readError } from '../support/gateway.ts'
import { keyedGateway, prompt, readSpend, used } from '../support/keyed-gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { json, type Responder, silent, stream } from '../support/scripted-upstream.ts'
import { streamed } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const config = `${cacheOn()}[resilience]
retry_max_attempts = 1
total_timeout_ms = 10000
${oneProvider}cache = true
`
/** At once, so that the first request is the one that asks the upstream. */
const digest = nodeDigest
const ask = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

/** A responder that waits for `open`, and ends when the gateway aborts its call. */
class Gate {
  open: () => void = () => {}
  aborted = 0
  readonly #opened = new Promise<void>((resolve) => {
    this.open = resolve
  })

  hold(responder: Responder): Responder {
    return (request) => {
      const aborted = silent()(request).catch((error: unknown) => {
        this.aborted++
        throw error
      })
      return Promise.race([this.#opened.then(() => responder(request)), aborted])
    }
  }
}

describe('equal requests that run at the same time', () => {
  test('ask the upstream once, and all get its answer', async () => {
    const { chat, upstream, get } = await watchedGateway(config, { digest })
    const gate = new Gate()
    upstream.next(gate.hold(json(completion('shared'))))
    const running = [1, 2, 3, 4].map(() => chat(ask))
    await settled()
    gate.open()
    const responses = await Promise.all(running)
    expect(responses.map(cacheHeaders)).toEqual([
      ['miss'],
      ['hit', '0'],
      ['hit', '0'],
      ['hit', '0'],
    ])
    const texts = await Promise.all(responses.map((response) => response.text()))
    expect(new Set(texts).size).toBe(1)
    expect(upstream.requests).toHaveLength(1)
    const text = await (await get('/metrics')).text()
    expect(series(text, 'gateway_cache_requests_total')).toEqual([
      { labels: { result: 'miss' }, value: 1 },
      { labels: { result: 'hit' }, value: 3 },
    ])
  })

  test('are charged once, and the others have rows like hits', async () => {
    const gateway = await keyedGateway(cachedProvider(), { digest })
    const pool = await gateway.group()
    const [first, second] = [
      await gateway.key({ group_id: pool, budget_max: 1 }),
      await gateway.key({ group_id: pool, budget_max: 0, rpm_limit: 5, tpm_limit: 0 }),
    ]
    const gate = new Gate()
    gateway.upstream.next(gate.hold(used(20, 7)))
    const running = [gateway.ask(first, prompt()), gateway.ask(second, prompt())]
    await settled()
    gate.open()
    const [, follower] = await Promise.all(running)
    expect(follower?.headers.get('x-ratelimit-remaining-requests')).toBe('4')
    expect(follower?.headers.get('x-gateway-attempts')).toBe('0')
    const rows = await gateway.rows()
    expect(rows.toSorted((a, b) => b.attempts - a.attempts)).toMatchObject([
      { keyId: first.id, cacheHit: false, cost: 34_000n, attempts: 1 },
      { keyId: second.id, cacheHit: true, cost: 0n, attempts: 0, status: 200 },
    ])
    expect(await readSpend(gateway, second.id)).toBe(0)
  })

  test('are refused by the requests of their own key', async () => {
    const gateway = await keyedGateway(cachedProvider(), { digest })
    const pool = await gateway.group()
    const first = await gateway.key({ group_id: pool })
    const second = await gateway.key({ group_id: pool, rpm_limit: 0 })
    const gate = new Gate()
    gateway.upstream.next(gate.hold(used(8, 1)))
    const running = gateway.ask(first, prompt())
    await settled()
    expect((await gateway.ask(second, prompt())).status).toBe(429)
    gate.open()
    expect((await running).status).toBe(200)
  })

  test('of two accounts do not wait for each other', async () => {
    const gateway = await keyedGateway(cachedProvider(), { digest })
    const [first, second] = [await gateway.key(), await gateway.key()]
    const gate = new Gate()
    gateway.upstream.next(gate.hold(used(8, 1)), used(8, 1))
    const running = gateway.ask(first, prompt())
    await settled()
    expect(cacheHeaders(await gateway.ask(second, prompt()))).toEqual(['miss'])
    gate.open()
    await running
  })

  test('share embeddings too', async () => {
    const gateway = await watchedGateway(
      config.replace('cache = true', 'cache = true\ncapabilities = ["embed"]'),
      { digest },
    )
    const gate = new Gate()
    gateway.upstream.next(gate.hold(vectors([[0.5]], 3)))
    const running = [embed(gateway, { input: 'Hi' }), embed(gateway, { input: 'Hi' })]
    await settled()
    gate.open()
    expect((await Promise.all(running)).map(cacheHeaders)).toEqual([['miss'], ['hit', '0']])
  })

  test('ask the upstream themselves when they are streams, or ask for a new answer', async () => {
    const { chat, upstream } = await watchedGateway(config, { digest })
    const gate = new Gate()
    upstream.next(gate.hold(json(completion())), json(completion()))
    const running = chat(ask)
    await settled()
    const fresh = await chat(ask, { headers: { 'x-gateway-cache': 'no-cache' } })
    expect(cacheHeaders(fresh)).toEqual(['miss'])
    gate.open()
    await running
    const streamGate = new Gate()
    upstream.always(streamGate.hold(stream([wholeStream])))
    const streaming = [chat(streamed()), chat(streamed())]
    await settled()
    streamGate.open()
    const streams = await Promise.all(streaming)
    expect(streams.map(cacheHeaders)).toEqual([['miss'], ['miss']])
    await Promise.all(streams.map((response) => response.text()))
  })

  test('do not get an answer that was asked for before the cache was emptied', async () => {
    const gateway = await keyedGateway(cachedProvider(), { digest })
    const held = await gateway.key()
    const gate = new Gate()
    gateway.upstream.next(gate.hold(used(8, 1)), used(8, 2))
    const running = gateway.ask(held, prompt())
    await settled()
    await gateway.admin('DELETE', '/admin/cache')
    const later = await gateway.ask(held, prompt())
    expect(cacheHeaders(later)).toEqual(['miss'])
    gate.open()
    await running
  })
})

describe('a client that leaves', () => {
  test('hands its call over to the requests that wait, and is charged for it', async () => {
    const gateway = await keyedGateway(cachedProvider(), { digest })
    const pool = await gateway.group()
    const [first, second] = [
      await gateway.key({ group_id: pool }),
      await gateway.key({ group_id: pool }),
    ]
    const gate = new Gate()
    gateway.upstream.next(gate.hold(used(20, 7)))
    const client = new AbortController()
    const left = gateway.chat(prompt(), { headers: first.headers, signal: client.signal })
    const waiting = gateway.ask(second, prompt())
    await settled()
    client.abort()
    await settled()
    expect(gate.aborted).toBe(0)
    gate.open()
    expect(cacheHeaders(await waiting)).toEqual(['hit', '0'])
    await left.catch(() => {})
    const rows = await gateway.rows()
    expect(rows.toSorted((a, b) => b.attempts - a.attempts)).toMatchObject([
      { keyId: first.id, status: 499, errorCode: 'LM-6001', cost: 34_000n, attempts: 1 },
      { keyId: second.id, status: 200, cacheHit: true, cost: 0n },
    ])
    expect(cacheHeaders(await gateway.ask(second, prompt()))).toEqual(['hit', '2'])
  })

  test('ends the call when it is the last of all', async () => {
    const { chat, upstream, gateway } = await watchedGateway(config, { digest })
    const gate = new Gate()
    upstream.next(gate.hold(json(completion())))
    const clients = [1, 2, 3].map(() => new AbortController())
    const running = clients.map(({ signal }) => chat(ask, { signal }).catch(() => {}))
    await settled()
    const [leader, second, third] = clients
    leader?.abort()
    second?.abort()
    await settled()
    expect([gate.aborted, gateway.inFlight]).toEqual([0, 2])
    third?.abort()
    await settled()
    expect([gate.aborted, gateway.inFlight]).toEqual([1, 0])
    await Promise.all(running)
  })

  test('does not end the call of others when it only waits', async () => {
    const { chat, upstream, log } = await watchedGateway(config, { digest })
    const gate = new Gate()
    upstream.next(gate.hold(json(completion())))
    const running = chat(ask)
    const client = new AbortController()
    const left = chat(ask, { signal: client.signal }).catch(() => {})
    await settled()
    client.abort()
    await settled()
    gate.open()
    expect((await running).status).toBe(200)
    await left
    expect(log.filter(({ fields }) => fields['status'] === 499)).toHaveLength(1)
  })
})

describe('a call that fails', () => {
  test('is repeated by the next request, for all that wait', async () => {
    const { chat, upstream } = await watchedGateway(config, { digest })
    const gate = new Gate()
    upstream.next(gate.hold(json({}, { status: 500 })), json(completion('second')))
    const running = [1, 2, 3].map(() => chat(ask))
    await settled()
    gate.open()
    const responses = await Promise.all(running)
    expect(responses.map(({ status }) => status)).toEqual([502, 200, 200])
    expect(responses.slice(1).map(cacheHeaders)).toEqual([['miss'], ['hit', '0']])
    expect(upstream.requests).toHaveLength(2)
  })

  test('gives each request an error of its own, after two waits at most', async () => {
    const { chat, upstream } = await watchedGateway(config, { digest })
    const gate = new Gate()
    const failing = json({ error: { message: 'overloaded' } }, { status: 400 })
    upstream.next(gate.hold(failing)).always(failing)
    const running = [1, 2, 3, 4, 5].map(() => chat(ask))
    await settled()
    gate.open()
    const responses = await Promise.all(running)
    expect(responses.map(({ status }) => status)).toEqual([400, 400, 400, 400, 400])
    expect(upstream.requests).toHaveLength(5)
  })

  test('that gives an unfinished answer is repeated by those that wait', async () => {
    const { chat, upstream } = await watchedGateway(config, { digest })
    const gate = new Gate()
    const unfinished = { ...completion(), choices: [{ index: 0, finish_reason: null }] }
    upstream.next(gate.hold(json(unfinished)), json(completion('whole')))
    const running = [1, 2].map(() => chat(ask))
    await settled()
    gate.open()
    const [, second] = await Promise.all(running)
    expect(await second?.text()).toContain('whole')
  })

  test('leaves each request its own total timeout', async () => {
    const { chat, upstream, clock } = await watchedGateway(config, { digest })
    upstream.always(silent())
    const first = chat(ask)
    await clock.advance(4_000)
    const second = chat(ask)
    await clock.advance(6_000)
    expect((await readError(await first))['code']).toBe('LM-3013')
    await clock.advance(3_999)
    expect(upstream.requests).toHaveLength(2)
    await clock.advance(1)
    expect((await readError(await second))['code']).toBe('LM-3013')
  })
})

test('a shutdown ends the call and all requests that wait for it', async () => {
  const { chat, upstream, gateway } = await watchedGateway(config, { digest })
  const gate = new Gate()
  upstream.next(gate.hold(json(completion())))
  const running = [1, 2, 3].map(() => chat(ask))
  await settled()
  gateway.drain()
  const responses = await Promise.all(running)
  expect(responses.map(({ status }) => status)).toEqual([502, 502, 502])
  expect([gate.aborted, upstream.requests.length, gateway.inFlight]).toEqual([1, 1, 0])
})
