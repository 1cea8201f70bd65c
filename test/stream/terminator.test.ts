import { describe, expect, test } from 'vitest'
import type { UpstreamFailure } from '../../src/core/failure.ts'
import type { Frame } from '../../src/core/frame.ts'
import { oneAhead } from '../../src/core/streams.ts'
import { createFailedFrame, doneFrame } from '../../src/stream/chunk-writer.ts'
import { Terminator } from '../../src/stream/terminator.ts'
import { settled } from '../support/manual-clock.ts'
import {
  collected,
  content,
  decodeText,
  everyKind,
  FedStream,
  passed,
  quiet,
} from '../support/streams.ts'

const done = 'data: [DONE]\n\n'
/** Returns the text of each frame; of a failed one, its failure. */
function describeFrames(chunks: readonly (readonly Frame[])[]): string[][] {
  return chunks.map((frames) =>
    frames.map(({ bytes, failure }) => (failure ? `failed: ${failure.kind}` : decodeText(bytes))),
  )
}

const shutdown: UpstreamFailure = { kind: 'shutdown' }

describe.each(everyKind)('the terminator in %s', (_, streams) => {
  function terminator(isDoneOptional = false) {
    const drained: true[] = []
    const stage = new Terminator({
      streamEnd: isDoneOptional ? 'finish' : 'terminator',
      upstream: { drain: () => drained.push(true) },
    })
    return { stage, drained }
  }

  async function terminated(chunks: Frame[][], isDoneOptional = false) {
    const { stage, drained } = terminator(isDoneOptional)
    const texts = describeFrames(await passed(streams, stage, chunks))
    return { texts, outcome: stage.outcome, drained: drained.length }
  }

  /** One whose stream is still being fed. */
  function running() {
    const { stage } = terminator()
    const fed = new FedStream<Frame[]>(streams)
    const through = new streams.TransformStream(stage, undefined, oneAhead)
    return { stage, fed, frames: collected(fed.stream.pipeThrough(through)) }
  }

  test('the stream ends at [DONE], and nothing after it passes', async () => {
    const chunks = [[content('a')], [quiet('b', { finished: 'all' }), doneFrame, content('c')]]
    expect(await terminated([...chunks, [content('d')]])).toEqual({
      texts: [['a'], ['b', done]],
      outcome: { complete: true, finished: true, allFinished: true, terminated: true },
      drained: 1,
    })
  })

  test('the end says when no choice has given its finish reason', async () => {
    const { outcome } = await terminated([[content('a'), doneFrame]])
    expect(outcome).toMatchObject({ complete: true, finished: false, allFinished: false })
  })

  test('a failure ends the stream with the failed frame, which keeps its usage', async () => {
    const usage = { promptTokens: 1, completionTokens: 2, totalTokens: 3, estimated: false }
    const failed = createFailedFrame({ kind: 'error-frame', message: 'overloaded' }, usage)
    const { stage, drained } = terminator()
    const frames = await passed(streams, stage, [[content('a'), failed, content('b')]])
    expect(describeFrames(frames)).toEqual([['a', 'failed: error-frame']])
    expect(frames[0]?.[1]).toMatchObject({ kind: 'error', usage })
    expect(stage.outcome).toEqual({ complete: false, failure: failed.failure })
    expect(drained).toEqual([])
  })

  test('a body without [DONE] has ended too early', async () => {
    expect(await terminated([[content('a', { finished: 'all' })]])).toEqual({
      texts: [['a'], ['failed: closed-early']],
      outcome: { complete: false, failure: { kind: 'closed-early' } },
      drained: 0,
    })
  })

  test('[DONE] is added for an upstream without one, once every choice has finished', async () => {
    const whole = await terminated([[content('a', { finished: 'all' })]], true)
    expect(whole).toMatchObject({ texts: [['a'], [done]], outcome: { complete: true } })
    const half = await terminated([[content('a', { finished: 'some' })]], true)
    expect(half.texts).toEqual([['a'], ['failed: closed-early']])
  })

  test('a failure from outside ends the stream at once and cancels what precedes it', async () => {
    const { stage, fed, frames } = running()
    stage.fail(shutdown)
    stage.fail({ kind: 'slow-client' })
    expect(describeFrames(await frames)).toEqual([['failed: shutdown']])
    await settled()
    expect(fed.isCancelled).toBe(true)
    expect(stage.outcome).toEqual({ complete: false, failure: shutdown })
  })

  test('a client that has left gets no frame', async () => {
    const { stage, frames } = running()
    stage.fail({ kind: 'client-cancelled' })
    expect(await frames).toEqual([])
  })
})
