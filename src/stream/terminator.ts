import type { UpstreamFailure } from '../core/failure.ts'
import type { Frame, Stage } from '../core/frame.ts'
import { doneFrame, noBytes } from './chunk-writer.ts'

/**
 * Watches for the end of a committed stream: `[DONE]`, after which nothing passes, or an error
 * frame, whose bytes are withheld because the client gets a terminal frame in its place.
 */
export class Terminator implements Stage {
  readonly #doneOptional: boolean
  #finished: Frame['finished']
  #outcome: StreamEnd | undefined

  /** `doneOptional`: a clean end after all finish reasons is complete, and gets its `[DONE]` here. */
  constructor(doneOptional: boolean) {
    this.#doneOptional = doneOptional
  }

  /** How the stream has ended, once it has. */
  get outcome(): StreamEnd | undefined {
    return this.#outcome
  }

  push(frames: Frame[]): Frame[] {
    for (const [index, frame] of frames.entries()) {
      if (frame.finished) this.#finished = frame.finished
      if (frame.kind === 'done') {
        this.#outcome = this.#complete()
        return frames.slice(0, index + 1)
      }
      if (frame.kind === 'error') {
        this.#outcome = { complete: false, failure: frame.failure ?? { kind: 'closed-early' } }
        // It may still hold the usage of what has failed.
        return [...frames.slice(0, index), { ...frame, bytes: noBytes }]
      }
    }
    return frames
  }

  /** The upstream's body has ended and no terminator was seen. */
  end(): Frame[] {
    if (this.#outcome) return []
    if (this.#doneOptional && this.#finished === 'all') {
      this.#outcome = this.#complete()
      return [doneFrame]
    }
    this.#outcome = { complete: false, failure: { kind: 'closed-early' } }
    return []
  }

  #complete(): StreamEnd {
    return { complete: true, finished: this.#finished !== undefined }
  }
}

export type StreamEnd =
  /** `finished`: some choice has given its finish reason. */
  | { readonly complete: true; readonly finished: boolean }
  | { readonly complete: false; readonly failure: UpstreamFailure }
