import { toFailure, type UpstreamFailure } from '../core/failure.ts'
import type { Frame, FrameDecoder } from '../core/frame.ts'
import type { StageController, Transformer } from '../core/streams.ts'
import type { UnreadCounter } from '../wire/buffers.ts'
import { createFailedFrame } from './chunk-writer.ts'

/**
 * Decodes bytes into frames. The frames of one network chunk stay together. A body that fails, or that
 * cannot be parsed, ends with an error frame.
 */
export class FrameReader implements Transformer<Uint8Array | UpstreamFailure, Frame[]> {
  readonly #decoder: FrameDecoder
  /** Counts the bytes of an incomplete frame, which the decoder holds. */
  readonly #kept: UnreadCounter

  constructor(decoder: FrameDecoder, kept: UnreadCounter) {
    this.#decoder = decoder
    this.#kept = kept
  }

  transform(chunk: Uint8Array | UpstreamFailure, out: StageController<Frame[]>): void {
    if (!(chunk instanceof Uint8Array)) return this.#breakOff(chunk, out)
    const frames = this.#decode(() => this.#decoder.push(chunk))
    if (frames.length === 0) return this.#kept.add(chunk.length)
    this.#kept.release()
    out.enqueue(frames)
    if (frames.at(-1)?.kind === 'error') out.terminate()
  }

  flush(out: StageController<Frame[]>): void {
    this.#kept.release()
    const frames = this.#decode(() => this.#decoder.end())
    if (frames.length > 0) out.enqueue(frames)
  }

  #breakOff(failure: UpstreamFailure, out: StageController<Frame[]>): void {
    this.#kept.release()
    out.enqueue(this.#brokenOff(failure))
    out.terminate()
  }

  #decode(decode: () => Frame[]): Frame[] {
    try {
      return decode()
    } catch (error) {
      return this.#brokenOff(toFailure(error))
    }
  }

  #brokenOff(failure: UpstreamFailure): Frame[] {
    const last = this.#decoder.breakOff?.() ?? []
    return [...last, createFailedFrame(failure)]
  }
}
