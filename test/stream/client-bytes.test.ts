import { describe, expect, test } from 'vitest'
import { GatewayError } from '../../src/core/errors.ts'
import { type UpstreamFailure, UpstreamFault } from '../../src/core/failure.ts'
import type { Frame } from '../../src/core/frame.ts'
import { oneAhead } from '../../src/core/streams.ts'
import { createFailedFrame, doneFrame } from '../../src/stream/chunk-writer.ts'
import { ClientBytes } from '../../src/stream/client-bytes.ts'
import { StreamRecorder } from '../../src/stream/stream-recorder.ts'
import type { StreamWriter } from '../../src/stream/stream-writer.ts'
import { settled } from '../support/manual-clock.ts'
import { content, decodeText, everyKind, FedStream, passed, quiet } from '../support/streams.ts'

const encode = (text: string) => new TextEncoder().encode(text)

const writer: StreamWriter = {
  write: ({ bytes }) => bytes,
  ping: () => encode('ping'),
  complete: (_, { usage }) => encode(`done with ${usage.totalTokens} tokens`),
  fail: ({ code, message }) => encode(`${code} ${message}`),
}

describe.each(everyKind)('client bytes in %s', (_, streams) => {
  function ending(write: StreamWriter = writer) {
    const ends: string[] = []
    const recorder = new StreamRecorder({ maxBytes: 1000, onResize: () => {} })
    const end = {
      onLast: () => ends.push('last'),
      onCancel: () => ends.push('left'),
      onBroken: ({ kind }: UpstreamFailure) => ends.push(`broken: ${kind}`),
    }
    const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3, estimated: false }
    const stage = new ClientBytes({
      end,
      writer: write,
      usage: () => ({ usage, isInBytes: true }),
      toError: ({ kind }) => new GatewayError('LM-3010', kind),
      recorder,
      pause: async () => void ends.push('pause'),
    })
    return { stage, ends, recorder }
  }

  async function sent(...chunks: Frame[][]) {
    return sentBy(writer, ...chunks)
  }

  async function sentBy(write: StreamWriter, ...chunks: Frame[][]) {
    const { stage, ends, recorder } = ending(write)
    const pieces = await passed(streams, stage, chunks)
    return { pieces, ends, whole: recorder.whole && decodeText(recorder.whole) }
  }

  test('the frames of one chunk become one piece', async () => {
    const { pieces } = await sent([content('a'), quiet(''), quiet('b')], [quiet('c')], [quiet('')])
    expect(pieces.map(decodeText)).toEqual(['ab', 'c'])
  })

  test('adjacent frames are not copied', async () => {
    const all = new TextEncoder().encode('abcd')
    const [a, b] = [all.subarray(0, 2), all.subarray(2)]
    const { pieces } = await sent([quiet('', { bytes: a }), quiet('', { bytes: b })])
    expect(pieces.map(decodeText)).toEqual(['abcd'])
    expect(pieces[0]?.buffer).toBe(all.buffer)
  })

  test('the writer says pings and ends in its own form', async () => {
    const ping: Frame = { bytes: encode(''), kind: 'ping', outputBytes: 0 }
    const { pieces } = await sent([ping], [content('a'), doneFrame])
    expect(pieces.map(decodeText)).toEqual(['ping', 'adone with 3 tokens'])
    const failed = await sent([createFailedFrame({ kind: 'shutdown' })])
    expect(failed.pieces.map(decodeText)).toEqual(['LM-3010 shutdown'])
  })

  test.each([
    ['done', doneFrame],
    ['error', createFailedFrame({ kind: 'shutdown' })],
  ])('the chain reports the end with a frame of kind %s', async (__, last) => {
    expect((await sent([content('a')])).ends).toEqual([])
    expect((await sent([content('a')], [last])).ends).toEqual(['last'])
  })

  test('the end is reported before the client can read it', () => {
    const { stage, ends } = ending()
    const enqueue = () => ends.push('bytes')
    stage.transform([content('a'), doneFrame], { desiredSize: 1, enqueue, terminate() {} })
    expect(ends).toEqual(['last', 'bytes'])
  })

  const fault = () => {
    throw new UpstreamFault({ kind: 'malformed', detail: 'x' })
  }

  test('a writer that cannot go on breaks the stream, and writes only the failure that follows', async () => {
    const { pieces, ends } = await sentBy(
      { ...writer, write: fault },
      [content('a'), content('b')],
      [createFailedFrame({ kind: 'malformed', detail: 'x' })],
    )
    expect(pieces.map(decodeText)).toEqual(['LM-3010 malformed'])
    expect(ends).toEqual(['broken: malformed', 'last'])
  })

  test('a writer that cannot end the stream writes its failure', async () => {
    const { pieces, ends } = await sentBy({ ...writer, complete: fault }, [doneFrame])
    expect(pieces.map(decodeText)).toEqual(['LM-3010 malformed'])
    expect(ends).toEqual(['last'])
  })

  const inPieces = (...texts: string[]) =>
    function* () {
      for (const text of texts) yield encode(text)
    }

  test('a long end is written piece by piece, and reported before the last one', async () => {
    const complete = inPieces('a', 'b', 'c')
    const { pieces, ends, whole } = await sentBy({ ...writer, complete }, [content('x'), doneFrame])
    expect(pieces.map(decodeText)).toEqual(['x', 'a', 'b', 'c'])
    expect(ends).toEqual(['pause', 'pause', 'pause', 'last'])
    expect(whole).toBe('xabc')
  })

  test('a long end that cannot be written ends with the failure', async () => {
    function* complete() {
      yield encode('a')
      fault()
    }
    const fail = inPieces('failed', ' in pieces')
    const { pieces, ends, whole } = await sentBy({ ...writer, complete, fail }, [doneFrame])
    expect(pieces.map(decodeText).join('')).toBe('afailed in pieces')
    expect(ends.at(-1)).toBe('last')
    expect(whole).toBeUndefined()
  })

  test('a reader that leaves during a long end gets no more of it', async () => {
    const { stage, ends } = ending({ ...writer, complete: inPieces('a', 'b', 'c') })
    const fed = new FedStream<Frame[]>(streams)
    const reader = fed.stream
      .pipeThrough(new streams.TransformStream(stage, undefined, oneAhead))
      .getReader()
    const first = reader.read()
    fed.push([content('x'), doneFrame])
    fed.end()
    await first
    await reader.cancel()
    await settled()
    expect(ends).not.toContain('last')
  })

  test('the chain reports a reader that leaves', async () => {
    const { stage, ends } = ending()
    const fed = new FedStream<Frame[]>(streams)
    const through = new streams.TransformStream(stage, undefined, oneAhead)
    await fed.stream.pipeThrough(through).cancel()
    expect(ends).toEqual(['left'])
    await settled()
    expect(fed.isCancelled).toBe(true)
  })
})
