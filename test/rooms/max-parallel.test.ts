import { describe, expect, test } from 'vitest'
import { done, hello, role } from '../support/answers.ts'
import { makeChain } from '../support/chain.ts'
import { readError, type TestGateway } from '../support/gateway.ts'
import { HeldUpstream } from '../support/held-upstream.ts'
import { settled } from '../support/manual-clock.ts'
import { isPending } from '../support/pending.ts'
import { json, LiveUpstream, stream } from '../support/scripted-upstream.ts'
import { streamed } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const say = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

async function open(config: string) {
  const gateway = await watchedGateway(config)
  return { ...gateway, held: new HeldUpstream(gateway.upstream) }
}

/** Sends a request that its client can leave. */
function send({ chat }: Pick<TestGateway, 'chat'>, body: object = say) {
  const client = new AbortController()
  const answer = chat(body, { signal: client.signal })
  return { answer, leave: () => client.abort() }
}

const one = makeChain([{ settings: 'max_parallel = 1' }])
const queued = makeChain([{ settings: 'max_parallel = 1\nqueue_max = 2\nqueue_ms = 1000' }])

describe('room at one upstream', () => {
  test('a call above max_parallel is refused with LM-3021 and Retry-After, and clients may ask again', async () => {
    const gateway = await open(one)
    const first = gateway.chat(say)
    await settled()
    const refused = await gateway.chat(say)
    expect(refused.status).toBe(503)
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(refused.headers.get('x-should-retry')).toBe(null)
    expect(refused.headers.get('x-gateway-attempts')).toBe('0')
    expect(refused.headers.get('x-gateway-queued-ms')).toBe(null)
    expect(await readError(refused)).toMatchObject({
      code: 'LM-3021',
      type: 'upstream_error',
      message: 'provider p has no room for another call',
      retry_after: 1,
    })
    gateway.held.answerFirst()
    expect((await first).status).toBe(200)
    const next = gateway.chat(say)
    await settled()
    gateway.held.answerFirst()
    expect((await next).status).toBe(200)
    expect(gateway.held.peak).toBe(1)
  })

  test('the limit of a provider holds over its models, that of a model for itself', async () => {
    const gateway = await open(`
      [[providers]]
      name = "p"
      kind = "openai"
      api_key_env = "P_KEY"
      max_parallel = 3
      models = [{ id = "m", max_parallel = 1 }, { id = "n" }]
    `)
    const statuses = async (...models: string[]) => {
      const answers = models.map((model) => gateway.chat({ ...say, model }))
      await settled()
      return answers
    }
    const running = await statuses('m', 'n', 'n')
    expect(gateway.held.running.map(({ model }) => model)).toEqual(['m', 'n', 'n'])
    for (const model of ['m', 'n']) expect((await gateway.chat({ ...say, model })).status).toBe(503)
    gateway.held.running[1]?.answer()
    await settled()
    expect((await gateway.chat(say)).status).toBe(503)
    running.push(...(await statuses('n')))
    while (gateway.held.running.length > 0) gateway.held.answerFirst()
    for (const each of running) expect((await each).status).toBe(200)
  })

  test('the limit of a pattern holds over all models that it serves', async () => {
    const gateway = await open(`
      [[providers]]
      name = "p"
      kind = "openai"
      api_key_env = "P_KEY"
      models = [{ id = "m-*", max_parallel = 1 }, { id = "n", fallbacks = ["m-c"] }]
    `)
    const first = gateway.chat({ ...say, model: 'm-a' })
    await settled()
    for (const model of ['m-a', 'm-b', 'm-c']) {
      expect((await gateway.chat({ ...say, model })).status).toBe(503)
    }
    gateway.held.answerFirst()
    expect((await first).status).toBe(200)
  })

  test('a stream has its place until its end', async () => {
    const gateway = await open(one)
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    live.push(role + hello)
    const response = await gateway.chat(streamed())
    expect((await gateway.chat(say)).status).toBe(503)
    live.push(done)
    await response.text()
    const next = gateway.chat(say)
    await settled()
    gateway.held.answerFirst()
    expect((await next).status).toBe(200)
  })

  test('a stream that its client cancels, or that breaks, gives its place back', async () => {
    const gateway = await open(one)
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    live.push(role + hello)
    const client = new AbortController()
    await gateway.chat(streamed(), { signal: client.signal })
    client.abort()
    await settled()
    gateway.upstream.next(
      stream([role, hello], { failure: { kind: 'network', reason: 'ECONNRESET' } }),
    )
    const broken = await gateway.chat(streamed())
    await broken.text()
    const next = gateway.chat(say)
    await settled()
    gateway.held.answerFirst()
    expect((await next).status).toBe(200)
  })

  test.each([
    ['an error', json({ error: { message: 'no' } }, { status: 400 }), 400],
    ['a fault', json({}, { status: 500 }), 502],
    ['a malformed answer', json('what?'), 502],
  ])('a call that ends with %s gives its place back', async (_, responder, status) => {
    const gateway = await open(
      makeChain([{ settings: 'max_parallel = 1' }], 'retry_max_attempts = 1'),
    )
    gateway.upstream.next(responder)
    expect((await gateway.chat(say)).status).toBe(status)
    const next = gateway.chat(say)
    await settled()
    gateway.held.answerFirst()
    expect((await next).status).toBe(200)
  })
})

describe('the queue', () => {
  test('a request waits for a call to end, and says so in x-gateway-queued-ms', async () => {
    const gateway = await open(queued)
    const first = send(gateway)
    await settled()
    const second = send(gateway)
    await gateway.clock.advance(250)
    gateway.held.answerFirst()
    expect((await first.answer).headers.get('x-gateway-queued-ms')).toBe(null)
    await settled()
    gateway.held.answerFirst()
    const answer = await second.answer
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-gateway-queued-ms')).toBe('250')
    expect(gateway.held.peak).toBe(1)
  })

  test('no more wait than queue_max, and for no longer than queue_ms', async () => {
    const gateway = await open(queued)
    const [first, ...waiting] = [send(gateway), send(gateway), send(gateway)]
    await settled()
    expect((await gateway.chat(say)).status).toBe(503)
    await gateway.clock.advance(999)
    expect(await isPending(waiting[0]?.answer as Promise<Response>)).toBe(true)
    await gateway.clock.advance(1)
    for (const { answer } of waiting) {
      const refused = await answer
      expect(refused.status).toBe(503)
      expect(refused.headers.get('x-gateway-queued-ms')).toBe('1000')
      expect(await readError(refused)).toMatchObject({ code: 'LM-3021' })
    }
    gateway.held.answerFirst()
    expect((await first?.answer)?.status).toBe(200)
    expect(gateway.held.total).toBe(1)
  })

  test('a client that leaves waits no longer: the place goes to the next one', async () => {
    const gateway = await open(queued)
    const [first, second, third] = [send(gateway), send(gateway), send(gateway)]
    await settled()
    second.leave()
    await settled()
    const fourth = send(gateway)
    await settled()
    expect(await isPending(fourth.answer)).toBe(true)
    gateway.held.answerFirst()
    await settled()
    gateway.held.answerFirst()
    await settled()
    gateway.held.answerFirst()
    for (const { answer } of [first, third, fourth]) expect((await answer).status).toBe(200)
    expect((await second.answer).status).toBe(499)
    expect(gateway.held.total).toBe(3)
  })

  test('the wait counts towards the total timeout, and towards the time that the client asks for', async () => {
    const gateway = await open(
      makeChain(
        [{ settings: 'max_parallel = 1\nqueue_max = 9\nqueue_ms = 60000' }],
        'total_timeout_ms = 500',
      ),
    )
    const first = send(gateway)
    await settled()
    const second = send(gateway)
    const third = gateway.chat(say, { headers: { 'x-gateway-timeout-ms': '100' } })
    await gateway.clock.advance(100)
    expect((await readError(await third))['message']).toBe(
      'the request took longer than its x-gateway-timeout-ms',
    )
    await gateway.clock.advance(399)
    expect(await isPending(second.answer)).toBe(true)
    await gateway.clock.advance(1)
    const late = await second.answer
    expect(late.status).toBe(504)
    expect(late.headers.get('x-gateway-queued-ms')).toBe('500')
    expect(await readError(late)).toMatchObject({ code: 'LM-3013' })
    expect((await first.answer).status).toBe(504)
    expect(gateway.held.total).toBe(1)
  })

  test('a wait is no failure of the provider', async () => {
    const gateway = await open(
      makeChain(
        [{ settings: 'max_parallel = 1\nqueue_max = 9\nqueue_ms = 10' }],
        'circuit_failure_threshold = 1',
      ),
    )
    const first = send(gateway)
    await settled()
    const others = [send(gateway), send(gateway), send(gateway)]
    await gateway.clock.advance(10)
    for (const { answer } of others) expect((await answer).status).toBe(503)
    gateway.held.answerFirst()
    expect((await first.answer).status).toBe(200)
    const next = send(gateway)
    await settled()
    gateway.held.answerFirst()
    expect((await next.answer).status).toBe(200)
  })

  test('a retry keeps the place', async () => {
    const gateway = await open(
      makeChain([{ settings: 'max_parallel = 1\nqueue_max = 9\nqueue_ms = 60000' }]),
    )
    const first = send(gateway)
    await settled()
    const second = send(gateway)
    await settled()
    gateway.held.answerFirst(json({}, { status: 500 }))
    await settled()
    expect(gateway.held.running).toEqual([])
    await gateway.clock.advance(10_000)
    expect(gateway.held.total).toBe(2)
    gateway.held.answerFirst()
    expect((await first.answer).status).toBe(200)
    await settled()
    gateway.held.answerFirst()
    expect((await second.answer).status).toBe(200)
  })

  test('shutting down ends the wait', async () => {
    const gateway = await open(queued)
    const first = send(gateway)
    await settled()
    const second = send(gateway)
    await settled()
    gateway.gateway.drain()
    expect((await readError(await second.answer))['message']).toBe('the gateway is shutting down')
    await first.answer
  })
})

describe('a chain', () => {
  const chain = (first: string, second: string) =>
    makeChain([{ settings: first }, { settings: second }])
  const full = 'max_parallel = 1'
  const queue = 'max_parallel = 1\nqueue_max = 5\nqueue_ms = 1000'

  test('a link without room is passed over, although it has a queue', async () => {
    const gateway = await open(chain(queue, ''))
    const first = send(gateway)
    await settled()
    const second = send(gateway)
    await settled()
    expect(gateway.held.running.map(({ model }) => model)).toEqual(['m', 'm2'])
    while (gateway.held.running.length > 0) gateway.held.answerFirst()
    await first.answer
    const answer = await second.answer
    expect(answer.headers.get('x-gateway-model-used')).toBe('m2')
    expect(answer.headers.get('x-gateway-queued-ms')).toBe(null)
    const line = gateway.log.findLast(({ message }) => message === 'request')
    expect(line?.fields['failed']).toEqual([
      { model: 'm', provider: 'p', reason: 'has no room', attempts: 0, failure: 'no-room' },
    ])
  })

  test('a request waits in every queue of the chain, takes what is free first, and leaves the others', async () => {
    const gateway = await open(chain(queue, queue))
    const [first, second] = [send(gateway), send(gateway)]
    await settled()
    const [third, fourth] = [send(gateway), send(gateway)]
    await settled()
    expect(gateway.held.total).toBe(2)
    gateway.held.running[1]?.answer()
    await settled()
    expect(gateway.held.running.map(({ model }) => model)).toEqual(['m', 'm2'])
    gateway.held.running[0]?.answer()
    await settled()
    expect(gateway.held.running.map(({ model }) => model)).toEqual(['m2', 'm'])
    while (gateway.held.running.length > 0) gateway.held.answerFirst()
    await settled()
    expect(gateway.held.running).toEqual([])
    const used = [first, second, third, fourth].map(async ({ answer }) =>
      (await answer).headers.get('x-gateway-model-used'),
    )
    expect(await Promise.all(used)).toEqual(['m', 'm2', 'm2', 'm'])
  })

  test('a request whose other links failed waits for the one that had no room', async () => {
    const gateway = await open(makeChain([{ settings: queue }, {}], 'retry_max_attempts = 1'))
    const first = send(gateway)
    await settled()
    const second = send(gateway)
    await settled()
    gateway.held.running[1]?.answer(json({}, { status: 500 }))
    await settled()
    expect(await isPending(second.answer)).toBe(true)
    gateway.held.answerFirst()
    await settled()
    gateway.held.answerFirst()
    await first.answer
    expect((await second.answer).headers.get('x-gateway-model-used')).toBe('m')
  })

  test('no room anywhere is LM-3021; mixed with other failures it is LM-3004', async () => {
    const gateway = await open(chain(full, full))
    const running = [send(gateway), send(gateway)]
    await settled()
    const refused = await gateway.chat(say)
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
    expect(await readError(refused)).toMatchObject({
      code: 'LM-3021',
      message:
        'every link of the chain failed: m (0 attempts): provider p has no room for another call; ' +
        'm2 (0 attempts): provider p2 has no room for another call',
    })
    gateway.held.running[1]?.answer()
    await settled()
    gateway.upstream.next(json({}, { status: 401 }))
    const mixed = await readError(await gateway.chat(say))
    expect(mixed).toMatchObject({ code: 'LM-3004' })
    expect(mixed['message']).toContain('no room')
    gateway.held.answerFirst()
    for (const { answer } of running) await answer
  })

  test('a request does not wait for a link whose circuit is open', async () => {
    const gateway = await open(
      makeChain([{ settings: queue }], 'circuit_failure_threshold = 1\nretry_max_attempts = 1'),
    )
    const first = send(gateway)
    await settled()
    const live = new LiveUpstream()
    gateway.held.answerFirst(live.responder)
    await settled()
    const second = send(gateway)
    await settled()
    live.fail({ kind: 'network', reason: 'ECONNRESET' })
    await settled()
    expect((await first.answer).status).toBe(502)
    expect(await readError(await second.answer)).toMatchObject({ code: 'LM-3020' })
  })
})
