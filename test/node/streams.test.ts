import { describe, expect, test } from 'vitest'
import { oneAhead, type StageController, type Transformer } from '../../src/core/streams.ts'
import { settled } from '../support/manual-clock.ts'
import { isPending } from '../support/pending.ts'
import { collected, createStream, everyKind, FedStream } from '../support/streams.ts'

/*
 * What chains rely on. It is tested with the platform's streams too, which say what is right.
 */

const tenfold: Transformer<number, number> = {
  transform: (chunk, out) => out.enqueue(chunk * 10),
}

describe.each(everyKind)('%s', (_, streams) => {
  const { ReadableStream, TransformStream } = streams

  /** A stage by its transformer, fed by hand. */
  function staged(transformer: Transformer<number, number>) {
    const fed = new FedStream<number>(streams)
    const stage = new TransformStream(transformer)
    return { fed, reader: fed.stream.pipeThrough(stage).getReader() }
  }

  test('chunks pass through every stage, in order and to the end', async () => {
    const next: Transformer<number, number> = {
      transform: (chunk, out) => out.enqueue(chunk + 1),
      flush: (out) => out.enqueue(99),
    }
    const stream = createStream(streams, [1, 2, 3])
      .pipeThrough(new TransformStream(tenfold))
      .pipeThrough(new TransformStream(next))
    expect(await collected(stream)).toEqual([11, 21, 31, 99])
  })

  test('a stage may produce several chunks or none for one', async () => {
    const repeat: Transformer<number, number> = {
      transform: (chunk, out) => {
        for (let count = 0; count < chunk; count++) out.enqueue(chunk)
      },
    }
    const stream = createStream(streams, [2, 0, 0, 1]).pipeThrough(new TransformStream(repeat))
    expect(await collected(stream)).toEqual([2, 2, 1])
  })

  test('the source is pulled only for wanted chunks', async () => {
    let pulls = 0
    const source = {
      pull(controller: { enqueue(chunk: number): void }) {
        controller.enqueue(++pulls)
      },
    }
    const stream = new ReadableStream<number>(source, { highWaterMark: 0 })
    await settled()
    expect(pulls).toBe(0)
    const reader = stream.getReader()
    expect(await reader.read()).toEqual({ done: false, value: 1 })
    await settled()
    expect(pulls).toBe(1)
  })

  test('the source is pulled once at a time, and again only after it has enqueued', async () => {
    let pulls = 0
    let give = () => {}
    const source = {
      pull(controller: { enqueue(chunk: number): void }) {
        pulls++
        give = () => controller.enqueue(pulls)
      },
    }
    const reader = new ReadableStream<number>(source, { highWaterMark: 0 }).getReader()
    const first = reader.read()
    const second = reader.read()
    await settled()
    expect(pulls).toBe(1)
    give()
    expect(await first).toEqual({ done: false, value: 1 })
    await settled()
    expect(pulls).toBe(2)
    give()
    expect(await second).toEqual({ done: false, value: 2 })
  })

  test('a stage with high-water mark 1 works one chunk ahead', async () => {
    const seen: number[] = []
    const gate: Transformer<number, number> = {
      transform(chunk, out) {
        seen.push(chunk)
        if (chunk > 2) out.enqueue(chunk)
      },
    }
    const chunks = createStream(streams, [1, 2, 3, 4, 5])
    const stream = chunks.pipeThrough(new TransformStream(gate, undefined, oneAhead))
    await settled()
    expect(seen).toEqual([1, 2, 3])
    expect(await collected(stream)).toEqual([3, 4, 5])
  })

  test('desiredSize is the number of wanted chunks', async () => {
    let out: StageController<number> | undefined
    const stage: Transformer<number, number> = {
      start: (controller) => {
        out = controller
      },
      transform: (chunk, controller) => controller.enqueue(chunk),
    }
    const fed = new FedStream<number>(streams)
    fed.stream.pipeThrough(new TransformStream(stage, undefined, oneAhead))
    expect(out?.desiredSize).toBe(1)
    out?.enqueue(1)
    expect(out?.desiredSize).toBe(0)
  })

  test('a stage that terminates ends the stream and cancels the stages before it', async () => {
    const until: Transformer<number, number> = {
      transform(chunk, out) {
        out.enqueue(chunk)
        if (chunk === 2) out.terminate()
      },
    }
    const { fed, reader } = staged(until)
    const reads = [reader.read(), reader.read(), reader.read()]
    fed.push(1)
    fed.push(2)
    const results = await Promise.all(reads)
    expect(results.map(({ value }) => value)).toEqual([1, 2, undefined])
    await settled()
    expect(fed.isCancelled).toBe(true)
  })

  test('a cancel by the reader reaches every stage and the source', async () => {
    const cancelled: string[] = []
    const stage = (name: string): Transformer<number, number> => ({
      ...tenfold,
      cancel: () => cancelled.push(name),
    })
    const fed = new FedStream<number>(streams)
    const reader = fed.stream
      .pipeThrough(new TransformStream(stage('first')))
      .pipeThrough(new TransformStream(stage('last')))
      .getReader()
    const read = reader.read()
    await reader.cancel()
    await settled()
    expect(await read).toMatchObject({ done: true })
    expect(cancelled.sort()).toEqual(['first', 'last'])
    expect(fed.isCancelled).toBe(true)
  })

  test('a stage that throws fails the reader and cancels the source', async () => {
    const fault = new Error('a mistake')
    const { fed, reader } = staged({
      transform() {
        throw fault
      },
    })
    const read = reader.read()
    fed.push(1)
    await expect(read).rejects.toBe(fault)
    await settled()
    expect(fed.isCancelled).toBe(true)
    await expect(reader.read()).rejects.toBe(fault)
  })

  test.each([
    [
      'throws',
      () => {
        throw new Error('a mistake')
      },
    ],
    ['rejects', () => Promise.reject(new Error('a mistake'))],
  ])('the reader gets the failure when the source %s', async (__, pull) => {
    const stream = new ReadableStream<number>({ pull }, { highWaterMark: 0 })
    const through = stream.pipeThrough(new TransformStream(tenfold))
    await expect(through.getReader().read()).rejects.toThrow('a mistake')
  })

  test('unread chunks are dropped when the source fails', async () => {
    let fail = () => {}
    const stream = new ReadableStream<number>({
      start(controller) {
        controller.enqueue(1)
        fail = () => controller.error(new Error('broken'))
      },
    })
    fail()
    await expect(stream.getReader().read()).rejects.toThrow('broken')
  })

  test('an ended stream rejects further chunks', async () => {
    const refused: unknown[] = []
    const stream = new ReadableStream<number>({
      start(controller) {
        controller.enqueue(1)
        controller.close()
        for (const late of [() => controller.enqueue(2), () => controller.close()]) {
          try {
            late()
          } catch (error) {
            refused.push(error)
          }
        }
      },
    })
    expect(await collected(stream)).toEqual([1])
    expect(refused).toEqual([expect.any(TypeError), expect.any(TypeError)])
  })

  test('a stream has at most one reader', () => {
    const { stream } = new FedStream<number>(streams)
    stream.getReader()
    expect(() => stream.getReader()).toThrow(TypeError)
    expect(() => stream.pipeThrough(new TransformStream(tenfold))).toThrow(TypeError)
  })

  test('a read waits for the next chunk', async () => {
    const { fed, reader } = staged(tenfold)
    const read = reader.read()
    expect(await isPending(read)).toBe(true)
    fed.push(4)
    expect(await read).toEqual({ done: false, value: 40 })
    fed.end()
    expect(await reader.read()).toMatchObject({ done: true })
  })
})

test('streams of Node reject stages of another implementation', () => {
  const [[, platform], [, node]] = everyKind as [(typeof everyKind)[0], (typeof everyKind)[0]]
  const stage = new platform.TransformStream(tenfold)
  expect(() => new FedStream<number>(node).stream.pipeThrough(stage)).toThrow(
    'another stream implementation',
  )
})
