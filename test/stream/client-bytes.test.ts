import { describe, expect, test } from 'vitest'
import type { Frame } from '../../src/core/frame.ts'
import { oneAhead } from '../../src/core/streams.ts'
import { createFailedFrame, doneFrame } from '../../src/stream/chunk-writer.ts'
import { ClientBytes } from '../../src/stream/client-bytes.ts'
import { settled } from '../support/manual-clock.ts'
import { content, decodeText, everyKind, FedStream, passed, quiet } from '../support/streams.ts'

describe.each(everyKind)('client bytes in %s', (_, streams) => {
  function ending() {
    const ends: string[] = []
    const end = { onSent: () => ends.push('sent'), onCancel: () => ends.push('left') }
    return { stage: new ClientBytes(end), ends }
  }

  async function sent(...chunks: Frame[][]) {
    const { stage, ends } = ending()
    return { pieces: await passed(streams, stage, chunks), ends }
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

  test.each([
    ['done', doneFrame],
    ['error', createFailedFrame({ kind: 'shutdown' })],
  ])('the chain reports the end with a frame of kind %s', async (__, last) => {
    expect((await sent([content('a')])).ends).toEqual([])
    expect((await sent([content('a')], [last])).ends).toEqual(['sent'])
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
