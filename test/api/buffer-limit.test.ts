import { describe, expect, test } from 'vitest'
import { completion, data, hello } from '../support/answers.ts'
import { series } from '../support/exposition.ts'
import { oneProvider, readError, type TestGateway } from '../support/gateway.ts'
import { settled } from '../support/manual-clock.ts'
import { isPending } from '../support/pending.ts'
import { MemoryFile } from '../support/reloading-gateway.ts'
import { json, LiveUpstream, silent } from '../support/scripted-upstream.ts'
import { StreamReader, settlement, streamed } from '../support/stream-client.ts'
import { watchedGateway } from '../support/watched-gateway.ts'

const limited = (bytes: number) => `[server]\nbuffer_limit = ${bytes}\n${oneProvider}`

/** A frame with a length of this many bytes. */
const frame = (length: number) => data({ x: '' }).replace('""', `"${'x'.repeat(length - 16)}"`)
const done = 'data: [DONE]\n\n'

/** A stream that has begun and is no longer read. */
async function stream({ chat, upstream }: TestGateway) {
  const live = new LiveUpstream()
  upstream.next(live.responder)
  const pending = chat(streamed(), { headers: { 'x-request-id': 'fixed' } })
  live.push(hello)
  const reader = new StreamReader(await pending)
  expect(await reader.next()).toBe(hello)
  return { live, reader }
}

async function bufferedBytes({ get }: TestGateway): Promise<number | undefined> {
  const text = await (await get('/metrics')).text()
  return series(text, 'gateway_buffered_bytes')[0]?.value
}

test('the frames of these tests have the expected length', () => {
  expect(frame(1000)).toHaveLength(1000)
})

describe('full buffers', () => {
  test('the stream with the most unread bytes ends as a slow client’s', async () => {
    const world = await watchedGateway(limited(10_000))
    const [slow, slower] = [await stream(world), await stream(world)]
    slow.live.push(frame(4000))
    slower.live.push(frame(6000))
    await settled()
    expect(await bufferedBytes(world)).toBe(10_000)
    slow.live.push(frame(1000))
    await settled()
    expect(slower.live.released).toBe('cancel')
    expect(await bufferedBytes(world)).toBe(5000)
    expect(await slower.reader.rest()).toContain('LM-6001')
    expect(settlement(world.log)).toMatchObject({ status: 499, error_code: 'LM-6001' })

    slow.live.push(done)
    const rest = await slow.reader.rest()
    expect(rest.startsWith(frame(4000) + frame(1000))).toBe(true)
    expect(rest.endsWith(done)).toBe(true)
  })

  test('a stream that is being read continues', async () => {
    const world = await watchedGateway(limited(10_000))
    const { live, reader } = await stream(world)
    for (let count = 0; count < 5; count++) {
      live.push(frame(9000))
      expect(await reader.next()).toBe(frame(9000))
    }
    live.push(done)
    expect((await reader.rest()).endsWith(done)).toBe(true)
  })

  test('bytes held before the first content count', async () => {
    const world = await watchedGateway(limited(10_000))
    const live = new LiveUpstream()
    world.upstream.next(live.responder)
    const pending = world.chat(streamed())
    await settled()
    live.push(': x\n'.repeat(2000))
    await settled()
    expect(await bufferedBytes(world)).toBeGreaterThan(8000)
    live.push(': x\n'.repeat(2000))
    expect((await pending).status).toBe(499)
  })

  test('bytes of an unfinished answer count', async () => {
    const world = await watchedGateway(limited(10_000))
    const live = new LiveUpstream()
    world.upstream.next(live.responder)
    const pending = world.chat({ ...streamed(), stream: false })
    await settled()
    live.push(' '.repeat(9000))
    await settled()
    expect(await bufferedBytes(world)).toBeGreaterThan(9000)
    live.push(JSON.stringify(completion()))
    live.end()
    expect((await pending).status).toBe(200)
    expect(await bufferedBytes(world)).toBe(0)
  })

  test('a body waits unread until there is room, and is then served', async () => {
    const world = await watchedGateway(limited(100_000))
    world.upstream.next(silent()).always(json(completion()))
    const send = (length: number, signal?: AbortSignal) => {
      const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
      const request = new Request('http://gateway.test/v1/chat/completions', {
        method: 'POST',
        body: body.padEnd(length, ' '),
        headers: { 'content-length': String(length) },
      })
      return world.gateway.fetch(request, signal && { signal })
    }
    const leaving = new AbortController()
    const first = send(80_000, leaving.signal)
    await settled()
    expect(await bufferedBytes(world)).toBe(80_000)
    const second = send(50_000)
    expect(await isPending(second)).toBe(true)
    leaving.abort()
    await first
    expect((await second).status).toBe(200)
  })
})

describe('buffer_limit and large_bodies', () => {
  test('the host’s limit applies when none is configured', async () => {
    const world = await watchedGateway(oneProvider, { bufferLimit: 1000 })
    const { live, reader } = await stream(world)
    live.push(frame(1001))
    await settled()
    expect(await reader.rest()).toContain('LM-6001')
  })

  test('a reload raises and lowers the limit', async () => {
    const file = new MemoryFile(limited(1000))
    const world = await watchedGateway(limited(1000), { configFile: file })
    const first = await stream(world)
    file.write(limited(5000))
    await world.gateway.reload()
    first.live.push(frame(4000))
    await settled()
    expect(await bufferedBytes(world)).toBe(4000)
    file.write(limited(3000))
    await world.gateway.reload()
    first.live.push(frame(100))
    await settled()
    expect(await first.reader.rest()).toContain('LM-6001')
  })

  test('a reload of large_bodies also applies to bodies that are waiting', async () => {
    const config = (count: number) => `[server]\nlarge_bodies = ${count}\n${oneProvider}`
    const file = new MemoryFile(config(1))
    const world = await watchedGateway(config(1), { configFile: file })
    const leaving = new AbortController()
    world.upstream.next(silent()).always(json(completion()))
    const send = (signal?: AbortSignal) => {
      const body = JSON.stringify({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
      const request = new Request('http://gateway.test/v1/chat/completions', {
        method: 'POST',
        body: body.padEnd(2_000_000, ' '),
      })
      return world.gateway.fetch(request, signal && { signal })
    }
    const first = send(leaving.signal)
    const second = send()
    expect(await isPending(second)).toBe(true)
    file.write(config(2))
    await world.gateway.reload()
    expect((await second).status).toBe(200)
    leaving.abort()
    await first
  })

  test.each(['large_bodies = 0', 'large_bodies = 1.5', 'buffer_limit = 0', 'buffer_limit = "1"'])(
    '%s is refused',
    async (setting) => {
      await expect(watchedGateway(`[server]\n${setting}\n${oneProvider}`)).rejects.toThrow(
        'server.',
      )
    },
  )
})

test('an error answer leaves nothing in the buffers', async () => {
  const world = await watchedGateway(limited(1_000_000))
  world.upstream.always(json({ error: { message: 'no' } }, { status: 400 }))
  const response = await world.chat({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] })
  expect((await readError(response))['code']).toBe('LM-3003')
  expect(await bufferedBytes(world)).toBe(0)
})
