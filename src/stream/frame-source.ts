import { toFailure, type UpstreamFailure } from '../core/failure.ts'
import type { Frame, FrameDecoder } from '../core/frame.ts'
import type { ByteSource } from '../core/ports.ts'
import type { Source, SourceController } from '../core/streams.ts'
import type { UnreadCounter } from '../wire/buffers.ts'
import type { TimeSlice } from '../wire/time-slice.ts'
import { createFailedFrame } from './chunk-writer.ts'

/**
 * How many bytes are read between two looks at the clock. Few streams have as many in a second, so that a slow
 * one does not yield; their events are translated within some milliseconds.
 */
const maxReadAtOnce = 64 * 1024

/** How many bytes of frames are passed on at once. A network chunk seldom makes as many. */
const maxSentAtOnce = 128 * 1024

export interface FrameSourceOptions {
  readonly bytes: ByteSource
  readonly decoder: FrameDecoder
  /** Counts the bytes of an incomplete frame, which the decoder holds. */
  readonly kept: UnreadCounter
  readonly slice: TimeSlice
}

/**
 * The frames of an upstream's answer, as the source of a pipeline. The frames of one network chunk stay
 * together, unless they are long. A body that fails, or that cannot be parsed, ends with an error frame.
 *
 * The stages behind it are synchronous: bytes that have arrived already, and the frames of one long event,
 * would pass them in one turn of the event loop. The source yields between them.
 */
export class FrameSource implements Source<Frame[]> {
  readonly #options: FrameSourceOptions
  /** Bytes read since the last look at the clock. */
  #readAtOnce = 0
  /** Long frames, of which the first have been passed on. */
  #rest: Iterator<Frame> | undefined
  /** No bytes follow. */
  #isOver = false
  #isCancelled = false

  constructor(options: FrameSourceOptions) {
    this.#options = options
  }

  async pull(controller: SourceController<Frame[]>): Promise<void> {
    let frames: Frame[] = []
    while (frames.length === 0 && (this.#rest || !this.#isOver)) {
      frames = this.#rest
        ? await this.#continue(this.#rest)
        : this.#decode(await this.#read().catch(toFailure))
      if (this.#isCancelled) return
    }
    if (frames.length > 0) controller.enqueue(frames)
    const isBroken = frames.at(-1)?.kind === 'error'
    if (isBroken) this.#options.bytes.cancel()
    if (isBroken || (this.#isOver && !this.#rest)) controller.close()
  }

  cancel(): void {
    this.#isCancelled = true
    this.#options.bytes.cancel()
  }

  #read(): Promise<Uint8Array | undefined> {
    return this.#readAtOnce < maxReadAtOnce ? this.#options.bytes.read() : this.#pauseAndRead()
  }

  async #pauseAndRead(): Promise<Uint8Array | undefined> {
    this.#readAtOnce = 0
    await this.#options.slice.pause()
    return this.#options.bytes.read()
  }

  /** Returns the frames that a chunk completes, or its absence, or a failure in its place. */
  #decode(chunk: Uint8Array | UpstreamFailure | undefined): Frame[] {
    const { decoder, kept } = this.#options
    if (chunk instanceof Uint8Array) {
      this.#readAtOnce += chunk.length
      const frames = this.#try(() => this.#pass(decoder.push(chunk)))
      if (frames.length > 0) kept.release()
      else if (!this.#isCancelled) kept.add(chunk.length)
      return frames
    }
    this.#isOver = true
    kept.release()
    return chunk ? this.#breakOff(chunk) : this.#try(() => this.#pass(decoder.end()))
  }

  /** Returns the frames to pass on now. The others follow. */
  #pass(frames: Iterable<Frame>): Frame[] {
    if (Array.isArray(frames) && isShort(frames)) return frames
    this.#rest = frames[Symbol.iterator]()
    return this.#takeNext(this.#rest)
  }

  async #continue(rest: Iterator<Frame>): Promise<Frame[]> {
    try {
      await this.#options.slice.pause()
    } catch (error) {
      // The request has ended.
      this.#rest = undefined
      return [createFailedFrame(toFailure(error))]
    }
    return this.#try(() => this.#takeNext(rest))
  }

  #takeNext(rest: Iterator<Frame>): Frame[] {
    const frames: Frame[] = []
    for (let length = 0; length < maxSentAtOnce; ) {
      const { done, value } = rest.next()
      if (done) {
        this.#rest = undefined
        break
      }
      frames.push(value)
      length += value.bytes.length
    }
    return frames
  }

  #try(decode: () => Frame[]): Frame[] {
    try {
      return decode()
    } catch (error) {
      return this.#breakOff(toFailure(error))
    }
  }

  #breakOff(failure: UpstreamFailure): Frame[] {
    this.#rest = undefined
    const last = this.#options.decoder.breakOff?.() ?? []
    return [...last, createFailedFrame(failure)]
  }
}

function isShort(frames: readonly Frame[]): boolean {
  let length = 0
  for (const { bytes } of frames) length += bytes.length
  return length <= maxSentAtOnce
}
