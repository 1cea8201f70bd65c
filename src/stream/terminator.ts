import type { StreamEnding } from '../core/endpoints.ts'
import type { UpstreamFailure } from '../core/failure.ts'
import type { Frame } from '../core/frame.ts'
import type { ByteSource } from '../core/ports.ts'
import type { StageController, Transformer } from '../core/streams.ts'
import { createFailedFrame, doneFrame } from './chunk-writer.ts'

export interface TerminatorOptions {
  readonly streamEnd: StreamEnding
  /** The upstream's body. After a complete answer its connection can be reused. */
  readonly upstream: Pick<ByteSource, 'drain'>
}

/**
 * Ends a committed stream once: at `[DONE]` or its like, after which no frame passes, or at a failure, with
 * a frame of the kind `error`.
 */
export class Terminator implements Transformer<Frame[], Frame[]> {
  readonly #options: TerminatorOptions
  #out: StageController<Frame[]> | undefined
  #finished: Frame['finished']
  #isTerminated = false
  #outcome: StreamEnd | undefined

  constructor(options: TerminatorOptions) {
    this.#options = options
  }

  /** How the stream ended; undefined until then. */
  get outcome(): StreamEnd | undefined {
    return this.#outcome
  }

  start(out: StageController<Frame[]>): void {
    this.#out = out
  }

  transform(frames: Frame[], out: StageController<Frame[]>): void {
    for (const [index, frame] of frames.entries()) {
      if (frame.finished) this.#finished = frame.finished
      if (frame.kind !== 'done' && frame.kind !== 'error') continue
      this.#isTerminated = frame.kind === 'done'
      const last = frame.kind === 'done' ? this.#complete(frame) : this.#broken(frame)
      out.enqueue([...frames.slice(0, index), last])
      return out.terminate()
    }
    out.enqueue(frames)
  }

  flush(out: StageController<Frame[]>): void {
    const { streamEnd } = this.#options
    const isFinished = this.#finished === 'all'
    if (isFinished && streamEnd === 'finish') return out.enqueue([this.#complete(doneFrame)])
    const lacksDone = isFinished && streamEnd === 'done'
    const failure = { kind: 'closed-early', ...(lacksDone && { lacksDone }) } as const
    out.enqueue([this.#broken(createFailedFrame(failure))])
  }

  /** Ends the stream now, for an outside reason. For a client that has left, no frame follows. */
  fail(failure: UpstreamFailure): void {
    if (this.#outcome) return
    if (failure.kind === 'client-cancelled') this.#outcome = { complete: false, failure }
    else this.#out?.enqueue([this.#broken(createFailedFrame(failure))])
    this.#out?.terminate()
  }

  #complete(last: Frame): Frame {
    const finished = this.#finished !== undefined
    const allFinished = this.#finished === 'all'
    this.#outcome = { complete: true, finished, allFinished, terminated: this.#isTerminated }
    this.#options.upstream.drain()
    return last
  }

  /** Keeps the frame, which may hold the usage of the failed stream. */
  #broken(frame: Frame): Frame {
    const { failure = { kind: 'closed-early' } } = frame
    this.#outcome = { complete: false, failure }
    return frame
  }
}

export type StreamEnd =
  | {
      readonly complete: true
      /** At least one choice gave a finish reason. */
      readonly finished: boolean
      /** Each choice that began gave a finish reason. */
      readonly allFinished: boolean
      /** The upstream sent its terminator. */
      readonly terminated: boolean
    }
  | { readonly complete: false; readonly failure: UpstreamFailure }
