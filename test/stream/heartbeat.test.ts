import { describe, expect, test } from 'vitest'
import type { Frame } from '../../src/core/frame.ts'
import { oneAhead } from '../../src/core/streams.ts'
import { Heartbeat } from '../../src/stream/heartbeat.ts'
import { ManualClock } from '../support/manual-clock.ts'
import { isPending } from '../support/pending.ts'
import { decodeText, everyKind, FedStream, quiet } from '../support/streams.ts'

const ping = [['ping']]

/** Returns the text of each frame, or `ping`. */
function describeFrames(chunks: readonly (readonly Frame[])[]): string[][] {
  return chunks.map((frames) =>
    frames.map(({ bytes, kind }) => (kind === 'ping' ? kind : decodeText(bytes))),
  )
}

describe.each(everyKind)('the heartbeat in %s', (_, streams) => {
  function beating(interval = 100) {
    const clock = new ManualClock()
    const fed = new FedStream<Frame[]>(streams)
    const heartbeat = new Heartbeat(clock, interval)
    const stage = new streams.TransformStream(heartbeat, undefined, oneAhead)
    const reader = fed.stream.pipeThrough(stage).getReader()
    const next = async () => describeFrames([(await reader.read()).value ?? []])
    return { clock, fed, heartbeat, next }
  }

  test('frames pass, and a ping follows an interval without any', async () => {
    const { clock, fed, next } = beating()
    const first = next()
    fed.push([quiet('a'), quiet('b')])
    expect(await first).toEqual([['a', 'b']])
    const second = next()
    await clock.advance(99)
    expect(await isPending(second)).toBe(true)
    await clock.advance(1)
    expect(await second).toEqual(ping)
  })

  test('the interval runs from the last frame with bytes', async () => {
    const { clock, fed, next } = beating()
    await clock.advance(60)
    const first = next()
    fed.push([quiet('a')])
    expect(await first).toEqual([['a']])
    await clock.advance(60)
    const second = next()
    fed.push([quiet('')])
    expect(await second).toEqual([['']])
    const third = next()
    await clock.advance(39)
    expect(await isPending(third)).toBe(true)
    await clock.advance(1)
    expect(await third).toEqual(ping)
  })

  test('a reader that does not read gets at most one ping', async () => {
    const { clock, fed, next } = beating()
    await clock.advance(1_000)
    fed.push([quiet('a')])
    fed.end()
    const texts = [await next(), await next(), await next()].flat(2).join('')
    expect(texts).toMatch(/^(?:ping)?a$/)
  })

  test('an interval of 0 sends no pings', () => {
    expect(beating(0).clock.pending).toBe(0)
  })

  test('the heartbeat ends with its stream, or when it is stopped', async () => {
    const whole = beating()
    const end = whole.next()
    whole.fed.end()
    expect(await end).toEqual([[]])
    expect(whole.clock.pending).toBe(0)
    const stopped = beating()
    stopped.heartbeat.stop()
    expect(stopped.clock.pending).toBe(0)
  })
})
