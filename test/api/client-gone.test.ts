import { describe, expect, test } from 'vitest'
import { chunk, completion, done, hello, role, stop, wholeStream } from '../support/answers.ts'
import { expectErrorShape } from '../support/contract.ts'
import { oneProvider, type TestGateway } from '../support/gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { isPending } from '../support/pending.ts'
import { broken, json, LiveUpstream, type Responder, silent } from '../support/scripted-upstream.ts'
import { StreamReader, settlement, streamed } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

/** One failure opens the circuit: a request served afterwards proves that none was counted. */
const config = `[resilience]\ncircuit_failure_threshold = 1\n${oneProvider}`
const chain = `
[[providers]]
name = "p"
kind = "openai"
api_key_env = "P_KEY"
models = [{ id = "m", fallbacks = ["n"] }, { id = "n" }]
`
const whole = { model: 'm', messages: [{ role: 'user', content: 'Hi' }] }

/** A response with this status whose body never arrives. */
const stalled =
  (status: number, type = 'application/json'): Responder =>
  async ({ signal }) => ({
    status,
    header: (name) => (name === 'content-type' ? type : undefined),
    body: {
      read: () =>
        new Promise<undefined>((resolve) => {
          signal.addEventListener('abort', () => resolve(undefined))
        }),
      cancel: () => {},
      drain: () => {},
    },
  })

interface Phase {
  readonly name: string
  readonly config?: string
  readonly stream: boolean
  readonly script: readonly Responder[]
  /** The time that the client waits before it leaves, in milliseconds. */
  readonly patience?: number
  readonly attempts: number
}

const phases: readonly Phase[] = [
  { name: 'the upstream is being called', stream: false, script: [silent()], attempts: 1 },
  {
    name: 'the upstream is being called for a stream',
    stream: true,
    script: [silent()],
    attempts: 1,
  },
  { name: 'the body of an answer is awaited', stream: false, script: [stalled(200)], attempts: 1 },
  { name: 'the body of a refusal is awaited', stream: false, script: [stalled(500)], attempts: 1 },
  {
    name: 'the first content of a stream is awaited',
    stream: true,
    script: [stalled(200, 'text/event-stream')],
    attempts: 1,
  },
  {
    name: 'a retry is waited for',
    // The failure before the retry is the provider's; here one failure does not open the circuit.
    config: config.replace('threshold = 1', 'threshold = 2'),
    stream: false,
    script: [broken()],
    patience: 50,
    attempts: 1,
  },
  {
    name: 'a Retry-After is waited for',
    config: config.replace('threshold = 1', 'threshold = 2'),
    stream: true,
    script: [json({}, { status: 429, headers: { 'retry-after': '15' } })],
    patience: 10_000,
    attempts: 1,
  },
  {
    name: 'a fallback is being called',
    config: chain,
    stream: false,
    script: [json({}, { status: 401 }), silent()],
    attempts: 2,
  },
]

describe('a client that leaves before its answer', () => {
  test.for(phases)(
    'leaving while $name is a 499 LM-6001, ends everything at once and affects no circuit',
    async (phase) => {
      const gateway = await watchedGateway(phase.config ?? config)
      gateway.upstream.next(...phase.script)
      const controller = new AbortController()
      const pending = gateway.chat(phase.stream ? streamed() : whole, { signal: controller.signal })
      await gateway.clock.advance(phase.patience ?? 1000)
      expect(await isPending(pending)).toBe(true)

      controller.abort()
      const response = await pending
      expect(response.status).toBe(499)
      expect(await expectErrorShape(response)).toMatchObject({
        code: 'LM-6001',
        type: 'client_cancelled',
      })
      expect(gateway.upstream.requests.at(-1)?.signal.aborted ?? true).toBe(true)
      expect(settlement(gateway.log)).toMatchObject({
        status: 499,
        error_code: 'LM-6001',
        attempts: phase.attempts,
        latency_ms: phase.patience ?? 1000,
      })
      expect(gateway.clock.pending).toBe(0)
      await isServed(gateway)
    },
  )

  test('a client that leaves before its request is read causes no upstream call', async () => {
    const gateway = await watchedGateway(config)
    const response = await gateway.chat(whole, { signal: AbortSignal.abort() })
    expect(response.status).toBe(499)
    expect(gateway.upstream.requests).toEqual([])
  })

  test('a client that leaves while sending its body ends the request', async () => {
    const { gateway, upstream, log } = await watchedGateway(config)
    const controller = new AbortController()
    const body = new ReadableStream<Uint8Array>({
      start: (out) => out.enqueue(new TextEncoder().encode('{"model":"m",')),
    })
    const pending = gateway.fetch(
      new Request('http://gateway.test/v1/chat/completions', {
        method: 'POST',
        body,
        duplex: 'half',
        signal: controller.signal,
      } as RequestInit),
    )
    expect(await isPending(pending)).toBe(true)
    expect(gateway.inFlight).toBe(1)
    controller.abort()
    expect((await pending).status).toBe(499)
    expect(settlement(log)).toMatchObject({ status: 499, error_code: 'LM-6001', attempts: 0 })
    expect(upstream.requests).toEqual([])
  })

  test('a client that breaks off its body ends the request', async () => {
    const { gateway, log } = await watchedGateway(config)
    const body = new ReadableStream<Uint8Array>({
      pull: (out) => out.error(new Error('aborted')),
    })
    const init = { method: 'POST', body, duplex: 'half' } as RequestInit
    const response = await gateway.fetch(
      new Request('http://gateway.test/v1/chat/completions', init),
    )
    expect(response.status).toBe(499)
    expect(settlement(log)).toMatchObject({ status: 499, error_code: 'LM-6001' })
  })
})

/** A stream whose first content the client has read. */
const committed = async (gateway: TestGateway) => {
  const live = new LiveUpstream()
  const controller = new AbortController()
  gateway.upstream.next(live.responder)
  live.push(role + hello)
  const response = await gateway.chat(streamed(), { signal: controller.signal })
  return { live, controller, response }
}

describe('a client that leaves its stream', () => {
  const cancelled = {
    status: 499,
    error_code: 'LM-6001',
    tokens_in: 8,
    tokens_out: 2,
    estimated: true,
  }

  test('leaving a stream that waits for content cancels the upstream call and settles what was streamed', async () => {
    const gateway = await watchedGateway(config)
    const { live, controller, response } = await committed(gateway)
    const reader = new StreamReader(response)
    expect(await reader.next()).toBe(role + hello)
    const next = reader.next()
    await gateway.clock.advance(500)
    controller.abort()
    expect(await next).toBeUndefined()
    expect(live.released).toBe('cancel')
    expect(settlement(gateway.log)).toMatchObject({ ...cancelled, latency_ms: 500 })
    await isServed(gateway)
  })

  test('leaving a stream without reading it ends the request', async () => {
    const gateway = await watchedGateway(config)
    const { live, controller } = await committed(gateway)
    live.push(hello.repeat(100))
    controller.abort()
    await settled()
    expect(live.released).toBe('cancel')
    expect(settlement(gateway.log)).toMatchObject(cancelled)
    await isServed(gateway)
  })

  test('cancelling the body of a stream ends the request', async () => {
    const gateway = await watchedGateway(config)
    const { live, response } = await committed(gateway)
    const reader = new StreamReader(response)
    await reader.next()
    await reader.leave()
    expect(live.released).toBe('cancel')
    expect(settlement(gateway.log)).toMatchObject(cancelled)
    await isServed(gateway)
  })

  test('cancelling the body and closing the connection settles the request once', async () => {
    const gateway = await watchedGateway(config)
    const { controller, response } = await committed(gateway)
    await response.body?.cancel()
    controller.abort()
    await settled()
    expect(settlement(gateway.log)).toMatchObject({ status: 499 })
  })

  test('leaving after the terminator leaves the request served', async () => {
    const gateway = await watchedGateway(config)
    const { live, controller, response } = await committed(gateway)
    live.push(stop + done)
    const reader = new StreamReader(response)
    let shown = ''
    while (!shown.includes(done)) shown += await reader.next()
    controller.abort()
    await settled()
    expect(settlement(gateway.log)).toMatchObject({ status: 200, error_code: undefined })
  })

  test('leaving after the stream died settles the failure, not the departure', async () => {
    const gateway = await watchedGateway(config)
    const { live, controller, response } = await committed(gateway)
    live.end()
    await response.text()
    controller.abort()
    await settled()
    expect(settlement(gateway.log)).toMatchObject({ status: 502, error_code: 'LM-3010' })
  })
})

describe('a client that reads too slowly', () => {
  test('a slow client loses its own stream once 8 MiB wait unread, and no other stream', async () => {
    const gateway = await watchedGateway(config)
    const slow = new LiveUpstream()
    const quick = new LiveUpstream()
    gateway.upstream.next(slow.responder, quick.responder)
    slow.push(hello)
    quick.push(hello)
    const slowReader = new StreamReader(await gateway.chat(streamed()))
    const quickReader = new StreamReader(await gateway.chat(streamed()))
    expect(await slowReader.next()).toBe(hello)

    const megabyte = chunk({ content: 'x'.repeat(2 ** 20) })
    for (let sent = 0; sent < 8; sent++) slow.push(megabyte)
    expect(slow.released).toBe('cancel')
    expect(await slowReader.rest()).toContain('"code":"LM-6001"')
    await gateway.clock.advance(10)
    expect(settlement(gateway.log)).toMatchObject({ status: 499, error_code: 'LM-6001' })

    expect(await quickReader.next()).toBe(hello)
    quick.push(wholeStream)
    expect(await quickReader.rest()).toBe(wholeStream)
  })

  test('a client that pauses with less than 8 MiB waiting keeps its stream', async () => {
    const gateway = await watchedGateway(config)
    const live = new LiveUpstream()
    gateway.upstream.next(live.responder)
    live.push(hello)
    const reader = new StreamReader(await gateway.chat(streamed()))
    const megabyte = chunk({ content: 'x'.repeat(2 ** 20) })
    for (let sent = 0; sent < 7; sent++) live.push(megabyte)
    await gateway.clock.advance(300_000)
    live.push(wholeStream)
    const reading = reader.rest()
    // The gateway yields to others between so many bytes.
    for (let turn = 0; turn < 200; turn++) await gateway.clock.advance(1)
    expect(await reading).toBe(hello + megabyte.repeat(7) + wholeStream)
  })
})

async function isServed({ chat, upstream }: TestGateway): Promise<void> {
  upstream.next(json(completion()))
  expect((await chat(whole)).status).toBe(200)
}
