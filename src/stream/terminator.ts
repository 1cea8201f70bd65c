import type { UpstreamFailure } from '../core/failure.ts'
import type { Frame, Stage } from '../core/frame.ts'
import { doneFrame } from './chunk-writer.ts'

/**
 * Watches for the end of a committed stream: `[DONE]`, after which nothing passes, or an error
 * frame, which is withheld because the terminal frame tells of it.
 */
export class Terminator implements Stage {
  readonly #doneOptional: boolean
  #finished = false
  #outcome: StreamEnd | undefined

  /** `doneOptional`: a clean end after a finish reason is complete, and gets its `[DONE]` here. */
  constructor(doneOptional: boolean) {
    this.#doneOptional = doneOptional
  }

  /** How the stream has ended, once it has. */
  get outcome(): StreamEnd | undefined {
    return this.#outcome
  }

  push(frames: Frame[]): Frame[] {
    for (const [index, frame] of frames.entries()) {
      if (frame.finished) this.#finished = true
      if (frame.kind === 'done') {
        this.#outcome = { complete: true }
        return frames.slice(0, index + 1)
      }
      if (frame.kind === 'error') {
        this.#outcome = { complete: false, failure: frame.failure ?? { kind: 'closed-early' } }
        return frames.slice(0, index)
      }
    }
    return frames
  }

  /** The upstream's body has ended and no terminator was seen. */
  end(): Frame[] {
    if (this.#outcome) return []
    if (this.#doneOptional && this.#finished) {
      this.#outcome = { complete: true }
      return [doneFrame]
    }
    this.#outcome = { complete: false, failure: { kind: 'closed-early' } }
    return []
  }
}

export type StreamEnd =
  | { readonly complete: true }
  | { readonly complete: false; readonly failure: UpstreamFailure }
