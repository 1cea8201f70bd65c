import { describe, expect, test } from 'vitest'
import { completion, hello } from '../support/answers.ts'
import { expectErrorShape } from '../support/contract.ts'
import { oneProvider, type TestGateway } from '../support/gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { isPending } from '../support/pending.ts'
import { json, LiveUpstream, silent } from '../support/scripted-upstream.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const MB = 1024 * 1024
const piece = 64 * 1024

const oneAtATime = `[server]\nlarge_bodies = 1\n${oneProvider}`

const encodeRequest = (length: number, more: object = {}) => {
  const request = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], ...more }
  return new TextEncoder().encode(JSON.stringify(request).padEnd(length, ' '))
}

/** A client that sends its body on demand and counts the bytes that were read. */
class Sender {
  /** The number of bytes that the gateway has read. */
  taken = 0
  readonly gone = new AbortController()
  readonly answer: Promise<Response>

  constructor(
    { gateway }: TestGateway,
    bytes: Uint8Array,
    { declared = true, stalls = false } = {},
  ) {
    const body = new ReadableStream<Uint8Array>(
      {
        pull: (controller) => {
          if (stalls && this.taken > bytes.length / 2) return new Promise(() => {})
          const next = bytes.subarray(this.taken, this.taken + piece)
          this.taken += next.length
          if (next.length > 0) controller.enqueue(next)
          else controller.close()
          return undefined
        },
      },
      { highWaterMark: 0 },
    )
    const init = {
      method: 'POST',
      body,
      duplex: 'half',
      headers: declared ? { 'content-length': String(bytes.length) } : {},
    }
    const request = new Request('http://gateway.test/v1/chat/completions', init as RequestInit)
    this.answer = gateway.fetch(request, { signal: this.gone.signal })
  }
}

/** A gateway whose only slot for large bodies is occupied until `leave` is called. */
async function occupied(config = oneAtATime) {
  const world = await watchedGateway(config)
  world.upstream.next(silent()).always(json(completion()))
  const first = new Sender(world, encodeRequest(2 * MB))
  await settled()
  expect(world.upstream.requests).toHaveLength(1)
  return {
    ...world,
    first,
    async leave() {
      first.gone.abort()
      expect((await first.answer).status).toBe(499)
    },
  }
}

describe('a body over 1 MiB', () => {
  test('a large body waits unread while server.large_bodies others are held', async () => {
    const world = await occupied()
    const second = new Sender(world, encodeRequest(2 * MB))
    expect(await isPending(second.answer)).toBe(true)
    expect(second.taken).toBe(0)
    await world.leave()
    expect((await second.answer).status).toBe(200)
    expect(second.taken).toBe(2 * MB)
  })

  test('a body of unknown length is read up to 1 MiB, and then waits', async () => {
    const world = await occupied()
    const second = new Sender(world, encodeRequest(3 * MB), { declared: false })
    expect(await isPending(second.answer)).toBe(true)
    expect(second.taken).toBe(MB + piece)
    await world.leave()
    expect((await second.answer).status).toBe(200)
  })

  test('waiting large bodies do not delay small ones', async () => {
    const world = await occupied()
    const large = new Sender(world, encodeRequest(2 * MB))
    const small = new Sender(world, encodeRequest(MB))
    expect((await small.answer).status).toBe(200)
    expect(await isPending(large.answer)).toBe(true)
    await world.leave()
    await large.answer
  })

  test('a body over the limit is refused with LM-1002 without waiting', async () => {
    const world = await occupied()
    const tooLong = new Sender(world, encodeRequest(11 * MB))
    expect((await tooLong.answer).status).toBe(413)
    expect(tooLong.taken).toBe(0)
    await world.leave()
  })

  test('a large body gives up its place when its answer is complete', async () => {
    const world = await watchedGateway(oneAtATime)
    world.upstream.always(json(completion()))
    for (let count = 0; count < 3; count++) {
      expect((await new Sender(world, encodeRequest(2 * MB)).answer).status).toBe(200)
    }
  })

  test('a large body gives up its place when its stream begins, not when it ends', async () => {
    const world = await watchedGateway(oneAtATime)
    const live = new LiveUpstream()
    world.upstream.next(live.responder).always(json(completion()))
    const first = new Sender(world, encodeRequest(2 * MB, { stream: true }))
    const second = new Sender(world, encodeRequest(2 * MB))
    expect(await isPending(second.answer)).toBe(true)
    live.push(hello)
    const stream = await first.answer
    expect((await second.answer).status).toBe(200)
    live.push('data: [DONE]\n\n')
    expect(await stream.text()).toContain('[DONE]')
  })

  test.each([
    ['malformed', encodeRequest(2 * MB).fill(0x5b, 0, 1), 400],
    ['for an unknown model', encodeRequest(2 * MB, { model: 'x' }), 404],
  ])('a refused body gives up its place: %s', async (_, bytes, status) => {
    const world = await watchedGateway(oneAtATime)
    for (let count = 0; count < 2; count++) {
      expect((await new Sender(world, bytes).answer).status).toBe(status)
    }
  })

  test('a body gives up its place when its client leaves half-way', async () => {
    const world = await watchedGateway(oneAtATime)
    world.upstream.always(json(completion()))
    const first = new Sender(world, encodeRequest(2 * MB), { stalls: true })
    const second = new Sender(world, encodeRequest(2 * MB))
    expect(await isPending(second.answer)).toBe(true)
    expect(second.taken).toBe(0)
    first.gone.abort()
    expect((await first.answer).status).toBe(499)
    expect((await second.answer).status).toBe(200)
  })

  test('embeddings and rerank wait as chat does', async () => {
    const world = await occupied()
    const answers = ['/v1/embeddings', '/v1/rerank'].map((path) => {
      const init = { method: 'POST', body: encodeRequest(2 * MB) }
      return world.gateway.fetch(new Request(`http://gateway.test${path}`, init))
    })
    expect(await isPending(Promise.any(answers))).toBe(true)
    await world.leave()
    // Both bodies are chat requests, so these endpoints refuse them.
    expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([400, 400])
  })
})

describe('the end of the wait', () => {
  test('the wait ends when the client leaves', async () => {
    const world = await occupied()
    const second = new Sender(world, encodeRequest(2 * MB))
    expect(await isPending(second.answer)).toBe(true)
    second.gone.abort()
    expect((await second.answer).status).toBe(499)
    expect(second.taken).toBe(0)
    await world.leave()
  })

  test('the wait ends at the total timeout', async () => {
    const world = await occupied(`${oneAtATime}\n[resilience]\ntotal_timeout_ms = 5000`)
    await world.clock.advance(1000)
    const second = new Sender(world, encodeRequest(2 * MB))
    await world.clock.advance(4000)
    expect((await world.first.answer).status).toBe(504)
    // The slot is free, so the second request is served.
    expect((await second.answer).status).toBe(200)
    world.upstream.always(silent())
    const [third, fourth] = [
      new Sender(world, encodeRequest(2 * MB)),
      new Sender(world, encodeRequest(2 * MB)),
    ]
    await world.clock.advance(5000)
    expect((await third.answer).status).toBe(504)
    expect((await expectErrorShape(await fourth.answer)).code).toBe('LM-3013')
    expect(fourth.taken).toBe(0)
  })

  test('the wait ends when the gateway drains', async () => {
    const world = await occupied()
    const second = new Sender(world, encodeRequest(2 * MB))
    expect(await isPending(second.answer)).toBe(true)
    world.gateway.drain()
    expect((await second.answer).status).toBe(502)
    expect(second.taken).toBe(0)
    await world.first.answer
  })
})
