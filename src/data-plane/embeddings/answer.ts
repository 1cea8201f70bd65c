import { UpstreamFault } from '../../core/failure.ts'
import type { Bytes } from '../../core/ids.ts'
import type { Body } from '../../core/ports.ts'
import { type Readable, type Source, type StreamClasses, unbuffered } from '../../core/streams.ts'
import { base64Length, writeBase64 } from '../../wire/base64.ts'
import type { BufferAccount, Buffers } from '../../wire/buffers.ts'
import type { NumberArray } from '../../wire/json/number-reader.ts'
import type { TimeSlice } from '../../wire/time-slice.ts'
import type { ServedVectors, VectorWriting } from './door.ts'

export interface EmbedAnswer extends ServedVectors {
  readonly vectors: readonly NumberArray[]
  readonly writing: VectorWriting
  /** The longest body that is rendered as a whole, whatever it costs in memory. */
  readonly wholeBytes: Bytes | undefined
}

/** A body and its length in bytes. */
export interface RenderedBody {
  readonly length: number
  readonly body: Body
}

export interface RenderContext {
  startTimeSlice(): TimeSlice
  /** Counts the vectors that are still to be sent. */
  readonly buffers: Buffers
  readonly streams: StreamClasses
}

/** A body up to this length is rendered at once, a longer one in pieces of this size while it is sent. */
const stepBytes = 128 * 1024

/** Renders the body. A long one is never held as a whole, because its vectors are in memory already. */
export function renderEmbeddings(answer: EmbedAnswer, context: RenderContext): RenderedBody {
  const rendering = new Rendering(answer)
  const { length } = rendering
  if (length <= Math.max(stepBytes, answer.wholeBytes ?? 0))
    return { length, body: rendering.next(length) }
  return { length, body: renderInSteps(rendering, context) }
}

function renderInSteps(rendering: Rendering, context: RenderContext): Readable<Uint8Array> {
  const { buffers, streams } = context
  const slice = context.startTimeSlice()
  let bufferAccount: BufferAccount | undefined
  const source: Source<Uint8Array> = {
    start(controller) {
      bufferAccount = buffers.openAccount(() =>
        controller.error(new UpstreamFault({ kind: 'slow-client' })),
      )
      bufferAccount.addUnread(rendering.length)
    },
    async pull(controller) {
      await slice.pause()
      const bytes = rendering.next(stepBytes)
      controller.enqueue(bytes)
      bufferAccount?.addUnread(-bytes.length)
      if (!rendering.isDone) return
      controller.close()
      bufferAccount?.close()
    },
    cancel: () => bufferAccount?.close(),
  }
  return new streams.ReadableStream(source, unbuffered)
}

/** A vector, and the text before and after it. */
interface Entry {
  readonly before: Uint8Array
  readonly vector: NumberArray | undefined
  readonly after: Uint8Array
}

/** The state of an answer that is rendered a few entries at a time. */
class Rendering {
  readonly length: number
  readonly #entries: readonly Entry[]
  #next = 0

  constructor({ vectors, writing, ...served }: EmbedAnswer) {
    const after = encoder.encode(writing.after)
    this.#entries = [
      ...vectors.map((vector, index) => {
        return { before: encoder.encode(writing.before(index)), vector, after }
      }),
      { before: encoder.encode(writing.end(served)), vector: undefined, after: new Uint8Array(0) },
    ]
    this.length = this.#entries.reduce((sum, entry) => sum + measureEntry(entry), 0)
  }

  get isDone(): boolean {
    return this.#next === this.#entries.length
  }

  /** Renders the next entries, until they have `minBytes`, or all that remain. */
  next(minBytes: number): Uint8Array {
    const start = this.#next
    let length = 0
    while (length < minBytes && !this.isDone)
      length += measureEntry(this.#entries[this.#next++] as Entry)
    const bytes = new Uint8Array(length)
    let at = 0
    for (const entry of this.#entries.slice(start, this.#next)) at = writeEntry(entry, bytes, at)
    return bytes
  }
}

const encoder = new TextEncoder()

function measureEntry({ before, vector, after }: Entry): number {
  return before.length + (vector ? measureVector(vector) : 0) + after.length
}

function measureVector({ form, pieces }: NumberArray): number {
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  return form === 'text' ? length : base64Length(length)
}

/** Writes an entry at `start`, and returns its end. */
function writeEntry({ before, vector, after }: Entry, body: Uint8Array, start: number): number {
  body.set(before, start)
  const begin = start + before.length
  const end = vector ? writeVector(vector, body, begin) : begin
  body.set(after, end)
  return end + after.length
}

function writeVector({ form, pieces }: NumberArray, body: Uint8Array, start: number): number {
  let at = start
  for (const piece of pieces) {
    if (form === 'float32') at = writeBase64(piece, body, at)
    else {
      body.set(piece, at)
      at += piece.length
    }
  }
  return at
}
