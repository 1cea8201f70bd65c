import type { GatewayError } from '../core/errors.ts'
import { toFailure, type UpstreamFailure } from '../core/failure.ts'
import type { Frame } from '../core/frame.ts'
import type { StageController, Transformer } from '../core/streams.ts'
import { concat } from '../wire/byte-list.ts'
import { noBytes } from './chunk-writer.ts'
import type { StreamRecorder } from './stream-recorder.ts'
import type { FinalUsage, LastBytes, StreamWriter } from './stream-writer.ts'

/** Is notified at the end of a pipeline. Both methods may be called, and more than once. */
export interface ChainEnd {
  /** The last frame is written; its bytes are sent next. */
  onLast(): void
  /** The reader has left. */
  onCancel(): void
  /** The writer cannot write what the upstream has sent: the stream fails. */
  onBroken(failure: UpstreamFailure): void
}

export interface ClientBytesOptions {
  readonly end: ChainEnd
  readonly writer: StreamWriter
  /** Returns the usage of the stream once its last frame has passed the usage tap. */
  readonly usage: () => FinalUsage
  /** Records what is written; absent where it is not sent again. */
  readonly recorder?: StreamRecorder | undefined
  /** Converts the failure of the stream to the error that the client gets. */
  readonly toError: (failure: UpstreamFailure) => GatewayError
  /** Yields to other work between the pieces of a long end. */
  readonly pause: () => Promise<void>
  /**
   * Whether the stream has failed, for clients that take every clean end for a complete answer: behind its last bytes
   * it breaks off, so that the host cuts the connection. The stage must then hold no chunk ahead of its reader: the
   * error would drop it.
   */
  readonly isCut?: (() => boolean) | undefined
}

/**
 * Writes frames as bytes in the API of the client. The bytes of one network chunk are joined, so that the
 * socket gets a single write.
 */
export class ClientBytes implements Transformer<Frame[], Uint8Array> {
  readonly #options: ClientBytesOptions
  #isBroken = false
  #isCancelled = false
  /** A long end of the stream, which has not been written. */
  #end: LongEnd | undefined

  constructor(options: ClientBytesOptions) {
    this.#options = options
  }

  transform(frames: Frame[], out: StageController<Uint8Array>): void {
    const pieces = frames.map((frame) => this.#tryWrite(frame))
    const { recorder } = this.#options
    if (recorder) {
      frames.forEach((frame, at) => {
        if (frame !== this.#end?.frame) recorder.add(frame, pieces[at] ?? noBytes)
      })
    }
    const last = frames.at(-1)?.kind
    // First, because on some hosts the socket has the bytes when `enqueue` returns: the client must not
    // see the end of a request that is not accounted.
    if ((last === 'done' || last === 'error') && !this.#end) this.#options.end.onLast()
    const bytes = joinPieces(pieces)
    if (bytes.length > 0) out.enqueue(bytes)
  }

  /** No frame follows the one that ends the stream, so a long end is written here. */
  flush(out: StageController<Uint8Array>): void | Promise<void> {
    if (this.#end) return this.#writeEnd(this.#end, out)
    if (this.#options.isCut?.()) throw new Error('the stream has failed')
  }

  cancel(): void {
    this.#isCancelled = true
    this.#options.end.onCancel()
  }

  /** The request is accounted before the last piece is sent, see `transform`. */
  async #writeEnd({ frame, pieces }: LongEnd, out: StageController<Uint8Array>): Promise<void> {
    const { end, recorder, pause } = this.#options
    let last: Uint8Array = noBytes
    for (const bytes of pieces) {
      recorder?.add(pieceOfEnd, bytes)
      if (last.length > 0) out.enqueue(last)
      last = bytes
      await pause()
      if (this.#isCancelled) return
    }
    if (!this.#isBroken) recorder?.add(frame, noBytes)
    end.onLast()
    if (last.length > 0) out.enqueue(last)
  }

  /** Writes an end at once if it is short. */
  #beginEnd(frame: Frame, last: LastBytes): Uint8Array {
    if (last instanceof Uint8Array) return last
    this.#end = { frame, pieces: this.#tryPieces(last) }
    return noBytes
  }

  *#tryPieces(pieces: Generator<Uint8Array>): Generator<Uint8Array> {
    try {
      yield* pieces
    } catch (error) {
      this.#isBroken = true
      const { writer, toError } = this.#options
      const failed = writer.fail(toError(toFailure(error)))
      if (failed instanceof Uint8Array) yield failed
      else yield* failed
    }
  }

  /** After a failure of the writer only the error frame, which follows, is written. */
  #tryWrite(frame: Frame): Uint8Array {
    if (this.#isBroken && frame.kind !== 'error') return noBytes
    try {
      return this.#write(frame)
    } catch (error) {
      const failure = toFailure(error)
      const { end, writer, toError } = this.#options
      // Nothing follows the last frame, so its failure is written here.
      if (frame.kind === 'done') return this.#beginEnd(frame, writer.fail(toError(failure)))
      this.#isBroken = true
      end.onBroken(failure)
      return noBytes
    }
  }

  #write(frame: Frame): Uint8Array {
    const { writer, usage, toError } = this.#options
    switch (frame.kind) {
      case 'content':
      case 'quiet':
        return writer.write(frame)
      case 'ping':
        return writer.ping()
      case 'done':
        return this.#beginEnd(frame, writer.complete(frame, usage()))
      case 'error':
        return this.#beginEnd(
          frame,
          writer.fail(toError(frame.failure ?? { kind: 'closed-early' })),
        )
      default:
        return frame.kind satisfies never
    }
  }
}

interface LongEnd {
  /** The frame that ends the stream. */
  readonly frame: Frame
  readonly pieces: Generator<Uint8Array>
}

const pieceOfEnd = { kind: 'content' } as const

/** Pieces that are adjacent in memory, as those of verbatim frames usually are, are joined without a copy. */
function joinPieces(pieces: readonly Uint8Array[]): Uint8Array {
  const first = pieces[0] ?? new Uint8Array(0)
  const length = pieces.reduce((sum, piece) => sum + piece.length, 0)
  if (first.length === length) return first
  if (areAdjacent(pieces)) return new Uint8Array(first.buffer, first.byteOffset, length)
  return concat(pieces, length)
}

function areAdjacent(pieces: readonly Uint8Array[]): boolean {
  const first = pieces[0]
  let next = first?.byteOffset
  return pieces.every((bytes) => {
    const follows = bytes.buffer === first?.buffer && bytes.byteOffset === next
    next = bytes.byteOffset + bytes.length
    return follows
  })
}
