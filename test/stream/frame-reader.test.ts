import { describe, expect, test } from 'vitest'
import { type UpstreamFailure, UpstreamFault } from '../../src/core/failure.ts'
import type { Frame, FrameDecoder } from '../../src/core/frame.ts'
import { FrameReader } from '../../src/stream/frame-reader.ts'
import {
  decodeFrames,
  decodeText,
  everyKind,
  openAccount,
  passed,
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

describe.each(everyKind)('the frame reader in %s', (_, streams) => {
  async function read(...chunks: (string | UpstreamFailure)[]) {
    const share = openAccount()
    const reader = new FrameReader(new LineDecoder(), share.openCounter())
    const said = chunks.map((chunk) => (typeof chunk === 'string' ? bytes(chunk) : chunk))
    const frames = await passed(streams, reader, said)
    expect(share.unread).toBe(0)
    return frames
  }

  const endOf = (frames: Frame[][]) => frames.flat().at(-1)

  test('the frames of one chunk are passed on together, and a chunk without one passes nothing', async () => {
    expect(decodeFrames(await read('a\nb\nc', 'd', 'e\n', 'f'))).toEqual([
      ['a', 'b'],
      ['cde'],
      ['f'],
    ])
  })

  test('the bytes that the decoder keeps are counted', async () => {
    const share = openAccount()
    const reader = new FrameReader(new LineDecoder(), share.openCounter())
    const out = { desiredSize: 1, enqueue: () => {}, terminate: () => {} }
    reader.transform(bytes('abc'), out)
    expect(share.unread).toBe(3)
    reader.transform(bytes('d\n'), out)
    expect(share.unread).toBe(0)
  })

  test('a body that breaks off ends with an error frame', async () => {
    const frames = await read('a\n', network)
    expect(decodeFrames(frames)).toEqual([['a'], ['broken off', '']])
    expect(endOf(frames)).toMatchObject({ kind: 'error', failure: network })
  })

  test.each([
    ['in its middle', ['a\n', '!\n', 'b\n']],
    ['at its end', ['a\n', '!']],
  ])('a body that cannot be decoded %s ends with an error frame', async (__, chunks) => {
    const frames = await read(...chunks)
    expect(decodeFrames(frames)).toEqual([['a'], ['broken off', '']])
    expect(endOf(frames)).toMatchObject({ kind: 'error', failure: malformed })
  })
})
