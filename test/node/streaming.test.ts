import { describe, expect, test, vi } from 'vitest'
import type { CancelSignal, Source } from '../../src/index.ts'
import { rawClient } from './support/raw-client.ts'
import { activeTime, deferred } from './support/servers.ts'
import {
  type Answer,
  clientGone,
  served,
  stream,
  stubGateway,
  text,
} from './support/stub-gateway.ts'

const get = 'GET / HTTP/1.1\r\nhost: a\r\n\r\n'
const post = 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 2\r\n\r\n{}'
const bytes = (content: string) => new TextEncoder().encode(content)

describe('a streamed answer', () => {
  test('a stream arrives in the pieces and the order of its source', async () => {
    const pieces = ['start ', 'one ', 'two ', 'three']
    const source: Source<Uint8Array> = {
      start: (controller) => controller.enqueue(bytes(pieces.shift() ?? '')),
      async pull(controller) {
        await new Promise(setImmediate)
        const piece = pieces.shift()
        if (piece === undefined) controller.close()
        else controller.enqueue(bytes(piece))
      },
    }
    const { address } = await served(stubGateway(() => stream(source)))
    expect(await (await fetch(address)).text()).toBe('start one two three')
  })

  test('each piece of a stream is sent at once', async () => {
    const more = deferred()
    const source: Source<Uint8Array> = {
      start: (controller) => controller.enqueue(bytes('first')),
      async pull(controller) {
        await more.promise
        controller.enqueue(bytes('last'))
        controller.close()
      },
    }
    const { port } = await served(stubGateway(() => stream(source)))
    const client = rawClient(port)
    client.send(get)
    expect(await client.until('first')).not.toContain('last')
    more.resolve()
    expect(await client.until('last')).toContain('first')
  })

  test('a stream sends chunks that its source pushes', async () => {
    const source: Source<Uint8Array> = {
      start(controller) {
        setImmediate(() => controller.enqueue(bytes('ping')))
        setTimeout(() => controller.close(), 10)
      },
    }
    const { address } = await served(stubGateway(() => stream(source)))
    expect(await (await fetch(address)).text()).toBe('ping')
  })

  test('the source is pulled for one piece at a time and not after its end', async () => {
    let pulling = 0
    let pulls = 0
    const source: Source<Uint8Array> = {
      async pull(controller) {
        pulls++
        expect(++pulling).toBe(1)
        controller.enqueue(bytes('a'))
        await new Promise(setImmediate)
        controller.enqueue(bytes('b'))
        if (pulls === 3) controller.close()
        pulling--
      },
    }
    const { address } = await served(stubGateway(() => stream(source)))
    expect(await (await fetch(address)).text()).toBe('ababab')
    expect(pulls).toBe(3)
  })

  test('the source is not pulled while the client does not read', async () => {
    let sent = 0
    const source: Source<Uint8Array> = {
      pull(controller) {
        sent += 65_536
        controller.enqueue(new Uint8Array(65_536))
      },
    }
    const { port } = await served(stubGateway(() => stream(source)))
    const client = rawClient(port)
    client.send(get)
    client.socket.pause()
    let before = -1
    await vi.waitUntil(
      () => {
        const isQuiet = sent > 0 && sent === before
        before = sent
        return isQuiet
      },
      { interval: 50 },
    )
    // The buffers of two kernels, and one piece.
    expect(sent).toBeLessThan(16 * 1024 * 1024)
  })
})

describe('a client that leaves', () => {
  test.each([
    ['a GET', get],
    ['a POST', post],
  ])(
    '%s in the middle of a stream: its source is cancelled, its signal aborts',
    async (_, head) => {
      const cancelled = deferred()
      const aborted = deferred()
      const answer: Answer = (_request, { signal }) => {
        signal?.addEventListener('abort', () => aborted.resolve())
        return stream({
          start: (controller) => controller.enqueue(bytes('first')),
          pull: () => new Promise(() => {}),
          cancel: () => cancelled.resolve(),
        })
      }
      const { port, serving } = await served(stubGateway(answer))
      const client = rawClient(port)
      client.send(head)
      await client.until('first')
      client.socket.destroy()
      expect(await activeTime(Promise.all([cancelled.promise, aborted.promise]))).toBeLessThan(250)
      expect(serving.running).toBe(0)
    },
  )

  test.each([
    ['a GET', get],
    ['a POST', post],
    ['a POST whose body is on its way', post.slice(0, -1)],
  ])(
    '%s while the gateway is at work: its signal aborts, its stream is cancelled',
    async (_, request) => {
      const asked = deferred()
      const gone = deferred()
      const cancelled = deferred()
      const { port, serving } = await served(
        stubGateway(async (_request, context) => {
          asked.resolve()
          await clientGone(context)
          gone.resolve()
          return stream({ cancel: () => cancelled.resolve() })
        }),
      )
      const client = rawClient(port)
      client.send(request)
      await asked.promise
      client.socket.destroy()
      expect(await activeTime(Promise.all([gone.promise, cancelled.promise]))).toBeLessThan(250)
      await expect.poll(() => serving.running).toBe(0)
    },
  )

  test('leaving during the second request of a connection aborts its signal', async () => {
    const gone = deferred()
    const { port, serving } = await served(
      stubGateway(async (request, context) => {
        if (request.method === 'GET') return text('first')
        await clientGone(context)
        gone.resolve()
        return text('too late')
      }),
    )
    const client = rawClient(port)
    client.send(get)
    await client.until('first')
    client.send(post)
    await expect.poll(() => serving.running).toBe(1)
    client.socket.destroy()
    expect(await activeTime(gone.promise)).toBeLessThan(250)
    expect(serving.running).toBe(0)
  })

  test('leaving while the body is read fails the read', async () => {
    const asked = deferred()
    const outcome = deferred<string>()
    const { port } = await served(
      stubGateway(async (request) => {
        asked.resolve()
        await request.arrayBuffer().then(
          () => outcome.resolve('read'),
          () => outcome.resolve('failed'),
        )
        return stream({})
      }),
    )
    const client = rawClient(port)
    client.send(post.slice(0, -1))
    await asked.promise
    client.socket.destroy()
    expect(await outcome.promise).toBe('failed')
  })
})

test('a client that has received everything does not abort the signal', async () => {
  const cancel = vi.fn<() => void>()
  const signals: CancelSignal[] = []
  const answer: Answer = (_, { signal }) => {
    if (signal) signals.push(signal)
    return stream({
      pull(controller) {
        controller.enqueue(bytes('whole'))
        controller.close()
      },
      cancel,
    })
  }
  const { port, serving } = await served(stubGateway(answer))
  const client = rawClient(port)
  client.send(get)
  await client.until('0\r\n\r\n')
  client.send(post)
  await client.until(/whole[^]*whole[^]*0\r\n\r\n/)
  client.socket.end()
  await client.whole
  await expect.poll(() => serving.running).toBe(0)
  expect(signals.map(({ aborted }) => aborted)).toEqual([false, false])
  expect(cancel).not.toHaveBeenCalled()
})
