import { nodeStreams } from '../../adapters/node/streams/index.ts'
import type { Frame } from '../../src/core/frame.ts'
import {
  oneAhead,
  type Readable,
  type SourceController,
  type StreamClasses,
  type Transformer,
  unbuffered,
} from '../../src/core/streams.ts'
import { webStreams } from '../../src/index.ts'
import type { LastBytes } from '../../src/stream/stream-writer.ts'
import { type BufferAccount, Buffers } from '../../src/wire/buffers.ts'
import { concat } from '../../src/wire/byte-list.ts'

/** The stream implementations in which every stage must work. */
export const everyKind: readonly (readonly [string, StreamClasses])[] = [
  ['streams of the platform', webStreams],
  ['streams of Node', nodeStreams],
]

const encoder = new TextEncoder()
const decoder = new TextDecoder()

export function quiet(text: string, more: Partial<Frame> = {}): Frame {
  return { bytes: encoder.encode(text), kind: 'quiet', outputBytes: 0, ...more }
}

export function content(text: string, more: Partial<Frame> = {}): Frame {
  return { ...quiet(text, more), kind: 'content', output: text, outputBytes: text.length }
}

/** Returns the end of a stream in one piece. */
export function joinLast(last: LastBytes): Uint8Array {
  return last instanceof Uint8Array ? last : concat([...last])
}

export const decodeText = (bytes: Uint8Array): string => decoder.decode(bytes)

/** Returns the text of the frames that a client would read, by chunk. */
export function decodeFrames(chunks: readonly (readonly Frame[])[]): string[][] {
  return chunks.map((frames) => frames.map(({ bytes }) => decodeText(bytes)))
}

/** A buffer account without a limit. */
export function openAccount(): BufferAccount {
  return new Buffers(() => Number.POSITIVE_INFINITY).openAccount(() => {})
}

/** A stream that a test writes to. */
export class FedStream<Chunk> {
  readonly stream: Readable<Chunk>
  isCancelled = false
  #controller: SourceController<Chunk> | undefined

  constructor({ ReadableStream }: StreamClasses) {
    this.stream = new ReadableStream<Chunk>(
      {
        start: (controller) => {
          this.#controller = controller
        },
        cancel: () => {
          this.isCancelled = true
        },
      },
      unbuffered,
    )
  }

  push(chunk: Chunk): void {
    this.#controller?.enqueue(chunk)
  }

  end(): void {
    this.#controller?.close()
  }
}

/** A stream that returns one of `chunks` per pull, then ends. */
export function createStream<Chunk>(
  { ReadableStream }: StreamClasses,
  chunks: readonly Chunk[],
): Readable<Chunk> {
  const left = [...chunks]
  const pull = (controller: SourceController<Chunk>) => {
    const chunk = left.shift()
    if (chunk === undefined) controller.close()
    else controller.enqueue(chunk)
  }
  return new ReadableStream<Chunk>({ pull }, unbuffered)
}

export async function collected<Chunk>(stream: Readable<Chunk>): Promise<Chunk[]> {
  const reader = stream.getReader()
  const chunks: Chunk[] = []
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return chunks
    chunks.push(value)
  }
}

/** Returns the whole output of one stage for these chunks and their end. */
export function passed<In, Out>(
  streams: StreamClasses,
  stage: Transformer<In, Out>,
  chunks: readonly In[],
): Promise<Out[]> {
  const { TransformStream } = streams
  const through = new TransformStream(stage, undefined, oneAhead)
  return collected(createStream(streams, chunks).pipeThrough(through))
}
