import { describe, expect, test } from 'vitest'
import type { UpstreamFailure } from '../../src/core/failure.ts'
import { unbuffered } from '../../src/core/streams.ts'
import { UpstreamBody } from '../../src/stream/upstream-body.ts'
import { BoundedQueue } from '../../src/wire/bounded-queue.ts'
import { collected, decodeText, everyKind } from '../support/streams.ts'

const bytes = (text: string) => new TextEncoder().encode(text)

describe.each(everyKind)('the body of an upstream in %s', (_, { ReadableStream }) => {
  function opened() {
    const released: string[] = []
    const queue = new BoundedQueue(1_000, { onRelease: (how) => released.push(how) })
    const stream = new ReadableStream(new UpstreamBody(queue), unbuffered)
    return { queue, stream, released }
  }

  test('the bytes come in order, to their end', async () => {
    const { queue, stream } = opened()
    const chunks = collected(stream)
    queue.push(bytes('a'))
    await Promise.resolve()
    queue.push(bytes('b'))
    queue.end()
    const texts = (await chunks).map((chunk) => chunk instanceof Uint8Array && decodeText(chunk))
    expect(texts.join('')).toBe('ab')
  })

  test('a failure is the last chunk, after the bytes that came before', async () => {
    const { queue, stream } = opened()
    const failure: UpstreamFailure = { kind: 'network', reason: 'ECONNRESET' }
    queue.push(bytes('a'))
    queue.fail(failure)
    expect(await collected(stream)).toEqual([bytes('a'), failure])
  })

  test('the body is released when its reader leaves, even during a read', async () => {
    const { stream, released } = opened()
    const reader = stream.getReader()
    const read = reader.read()
    await reader.cancel()
    expect(await read).toMatchObject({ done: true })
    expect(released).toEqual(['cancel'])
  })
})
