import { describe, expect, test } from 'vitest'
import { type UpstreamFailure, UpstreamFault } from '../../src/core/failure.ts'
import type { Frame, FrameDecoder } from '../../src/core/frame.ts'
import { unbuffered } from '../../src/core/streams.ts'
import { FrameSource } from '../../src/stream/frame-source.ts'
import { BoundedQueue } from '../../src/wire/bounded-queue.ts'
import { openSlice } from '../support/open-slice.ts'
import {
  collected,
  decodeFrames,
  decodeText,
  everyKind,
  openAccount,
  quiet,
} from '../support/streams.ts'

const bytes = (text: string) => new TextEncoder().encode(text)
const malformed: UpstreamFailure = { kind: 'malformed', detail: 'not a line' }
const network: UpstreamFailure = { kind: 'network', reason: 'ECONNRESET' }

/** Takes every line for a frame, and one of `!` for nonsense. */
class LineDecoder implements FrameDecoder {
  #rest = ''

  push(chunk: Uint8Array): Frame[] {
    const lines = (this.#rest + decodeText(chunk)).split('\n')
    this.#rest = lines.pop() ?? ''
    if (lines.includes('!')) throw new UpstreamFault(malformed)
    return lines.map((line) => quiet(line))
  }

  end(): Frame[] {
    if (this.#rest === '!') throw new UpstreamFault(malformed)
    return this.#rest === '' ? [] : [quiet(this.#rest)]
  }

  breakOff(): Frame[] {
    return [quiet('broken off')]
  }
}

const end = undefined

describe.each(everyKind)('the frames of an upstream in %s', (_, { ReadableStream }) => {
  function open(decoder: FrameDecoder = new LineDecoder()) {
    const released: string[] = []
    const account = openAccount()
    const queue = new BoundedQueue(1_000_000, { onRelease: (how) => released.push(how) })
    const kept = account.openCounter()
    const source = new FrameSource({ bytes: queue, decoder, kept, slice: openSlice() })
    return { queue, released, account, stream: new ReadableStream(source, unbuffered) }
  }

  /** Sends each chunk when the one before it has been read. */
  async function read(...chunks: (string | UpstreamFailure | undefined)[]) {
    const { queue, account, stream, released } = open()
    const collecting = collected(stream)
    for (const chunk of chunks) {
      if (typeof chunk === 'string') queue.push(bytes(chunk))
      else if (chunk) queue.fail(chunk)
      else queue.end()
      await new Promise(setImmediate)
    }
    const frames = await collecting
    expect(account.unread).toBe(0)
    return { frames, released }
  }

  const endOf = (frames: Frame[][]) => frames.flat().at(-1)

  test('the frames of one chunk are passed on together, and a chunk without one passes nothing', async () => {
    const { frames } = await read('a\nb\nc', 'd', 'e\n', 'f', end)
    expect(decodeFrames(frames)).toEqual([['a', 'b'], ['cde'], ['f']])
  })

  test('a body without a frame ends at once', async () => {
    expect((await read('', end)).frames).toEqual([])
  })

  test('the bytes that the decoder keeps are counted', async () => {
    const { queue, account, stream } = open()
    const reader = stream.getReader()
    const first = reader.read()
    queue.push(bytes('abc'))
    await new Promise(setImmediate)
    expect(account.unread).toBe(3)
    queue.push(bytes('d\n'))
    await first
    expect(account.unread).toBe(0)
    await reader.cancel()
  })

  test('a body that breaks off ends with an error frame, after the frames before it', async () => {
    const { frames } = await read('a\n', network)
    expect(decodeFrames(frames)).toEqual([['a'], ['broken off', '']])
    expect(endOf(frames)).toMatchObject({ kind: 'error', failure: network })
  })

  test.each([
    ['in its middle', ['a\n', '!\n', 'b\n'], ['cancel']],
    ['at its end', ['a\n', '!', end], []],
  ])('a body that cannot be decoded %s ends with an error frame', async (__, chunks, how) => {
    const { frames, released } = await read(...chunks)
    expect(decodeFrames(frames)).toEqual([['a'], ['broken off', '']])
    expect(endOf(frames)).toMatchObject({ kind: 'error', failure: malformed })
    expect(released).toEqual(how)
  })

  test('long frames are passed on in groups, each when the one before it has been read', async () => {
    const text = 'x'.repeat(100_000)
    let made = 0
    function* makeFrames() {
      for (; made < 5; made++) yield quiet(text)
    }
    const { queue, stream } = open({ push: () => [], end: makeFrames })
    queue.end()
    const reader = stream.getReader()
    const groups: number[][] = []
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      groups.push([value.length, made])
    }
    expect(groups).toEqual([
      [2, 1],
      [2, 3],
      [1, 5],
    ])
  })

  test('frames that cannot be made end with an error frame', async () => {
    function* makeFrames() {
      yield quiet('x'.repeat(200_000))
      throw new UpstreamFault(malformed)
    }
    const { queue, stream } = open({ push: () => [], end: makeFrames })
    queue.end()
    const frames = await collected(stream)
    expect(frames.map(({ length }) => length)).toEqual([1, 1])
    expect(endOf(frames)).toMatchObject({ kind: 'error', failure: malformed })
  })

  test('the body is released when its reader leaves, even during a read', async () => {
    const { stream, released } = open()
    const reader = stream.getReader()
    const reading = reader.read()
    await reader.cancel()
    expect(await reading).toMatchObject({ done: true })
    expect(released).toEqual(['cancel'])
  })
})
