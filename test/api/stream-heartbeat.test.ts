import { describe, expect, test } from 'vitest'
import { done, hello, role, stop, usageChunk, wholeStream } from '../support/answers.ts'
import { oneProvider } from '../support/gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { isPending } from '../support/pending.ts'
import { LiveUpstream } from '../support/scripted-upstream.ts'
import { StreamReader, streamed } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const ping = ': ping\n'
const finish = stop + usageChunk + done

/** A committed stream whose first content has been read. */
async function committed(config?: string) {
  const { chat, upstream, clock } = await watchedGateway(config)
  const live = new LiveUpstream()
  upstream.next(live.responder)
  live.push(role + hello)
  const reader = new StreamReader(await chat(streamed()))
  expect(await reader.next()).toBe(role + hello)
  const end = async () => {
    live.push(finish)
    expect(await reader.rest()).toBe(finish)
  }
  return { live, reader, clock, end }
}

describe('an idle stream', () => {
  test('a ping of one line end is sent every 15 seconds', async () => {
    const { reader, clock, end } = await committed()
    const first = reader.next()
    await clock.advance(14_999)
    expect(await isPending(first)).toBe(true)
    await clock.advance(1)
    expect(await first).toBe(ping)
    const second = reader.next()
    await clock.advance(14_999)
    expect(await isPending(second)).toBe(true)
    await clock.advance(1)
    expect(await second).toBe(ping)
    await end()
  })

  test('the interval is configurable', async () => {
    const { reader, clock, end } = await committed(
      `[server]\nsse_heartbeat_ms = 40\n${oneProvider}`,
    )
    const next = reader.next()
    await clock.advance(40)
    expect(await next).toBe(ping)
    await end()
  })

  test('an interval of 0 turns pings off', async () => {
    const { reader, clock, live } = await committed(
      `[server]\nsse_heartbeat_ms = 0\n${oneProvider}`,
    )
    const next = reader.next()
    await clock.advance(500_000)
    expect(await isPending(next)).toBe(true)
    live.push(finish)
    expect(await next).toBe(finish)
    expect(await reader.next()).toBeUndefined()
  })
})

describe('a ping', () => {
  test('any frame postpones the next ping', async () => {
    const { live, reader, clock, end } = await committed()
    for (let turn = 0; turn < 10; turn++) {
      const next = reader.next()
      await clock.advance(14_999)
      live.push(hello)
      expect(await next).toBe(hello)
    }
    const next = reader.next()
    await clock.advance(15_000)
    expect(await next).toBe(ping)
    await end()
  })

  test('an upstream comment does not postpone the next ping, because the client does not receive it', async () => {
    const { live, reader, clock, end } = await committed()
    const next = reader.next()
    await clock.advance(14_000)
    live.push(': keep-alive\n\n')
    await clock.advance(999)
    expect(await isPending(next)).toBe(true)
    await clock.advance(1)
    expect(await next).toBe(ping)
    await end()
  })

  test.each([
    ['in its data', hello.slice(0, 40), hello.slice(40)],
    ['after its data', hello.slice(0, -2), hello.slice(-2)],
    ['between its line ends', hello.slice(0, -1), hello.slice(-1)],
    [
      'in a CRLF of its data line',
      hello.replaceAll('\n', '\r\n').slice(0, -3),
      hello.replaceAll('\n', '\r\n').slice(-3),
    ],
    [
      'in the CRLF of its blank line',
      hello.replaceAll('\n', '\r\n').slice(0, -1),
      hello.replaceAll('\n', '\r\n').slice(-1),
    ],
    [
      'in a CRLF that follows a bare LF',
      hello.replace(/\n\n$/, '\n\r\n').slice(0, -1),
      hello.replace(/\n\n$/, '\n\r\n').slice(-1),
    ],
  ])('a ping precedes a frame that is cut %s, and never splits it', async (_, before, after) => {
    const { live, reader, clock, end } = await committed()
    const next = reader.next()
    live.push(before)
    await clock.advance(15_000)
    expect(await next).toBe(ping)
    live.push(after)
    expect(await reader.next()).toBe(before + after)
    await end()
  })

  test('pings do not pile up for a client that does not read', async () => {
    const { reader, clock, end } = await committed()
    await clock.advance(300_000)
    await end()
    expect(await reader.next()).toBeUndefined()
  })

  test('no ping precedes the first content', async () => {
    const { chat, upstream, clock } = await watchedGateway()
    const live = new LiveUpstream()
    upstream.next(live.responder)
    const response = chat(streamed())
    await clock.advance(100_000)
    live.push(wholeStream)
    expect(await (await response).text()).toBe(wholeStream)
  })

  test('no ping follows the terminator', async () => {
    const { live, reader, clock } = await committed()
    live.push(finish)
    expect(await reader.next()).toBe(finish)
    await clock.advance(100_000)
    expect(await reader.next()).toBeUndefined()
  })

  test('pings do not keep an abandoned stream alive', async () => {
    const { live, reader, clock } = await committed()
    await reader.leave()
    await clock.advance(100_000)
    await settled()
    expect(live.released).toBe('cancel')
  })
})
