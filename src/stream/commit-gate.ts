import type { UpstreamFailure } from '../core/failure.ts'
import type { Frame } from '../core/frame.ts'

/**
 * Holds a stream back until its first content frame, so that an upstream that fails before it has
 * said anything can still be replaced, with nothing of it shown to the client.
 */
export class CommitGate {
  readonly #limit: number
  readonly #held: Frame[] = []
  #heldBytes = 0

  /** Over `limit` bytes without content the stream is no answer, and is not held any longer. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** `open` with every frame so far once there is content; `failed` at an error or an early end. */
  push(frames: readonly Frame[]): GateVerdict {
    let open = false
    for (const frame of frames) {
      this.#held.push(frame)
      this.#heldBytes += frame.bytes.length
      if (open) continue
      if (frame.kind === 'content') open = true
      else if (frame.kind === 'error') {
        return { state: 'failed', failure: frame.failure ?? { kind: 'closed-early' } }
      } else if (frame.kind === 'done') return this.end()
    }
    if (open) return { state: 'open', frames: this.#held }
    if (this.#heldBytes <= this.#limit) return { state: 'held' }
    return { state: 'failed', failure: { kind: 'malformed', detail: 'the stream has no content' } }
  }

  /** The verdict when the upstream ended and the gate has not opened. */
  end(): GateVerdict {
    return { state: 'failed', failure: { kind: 'closed-early' } }
  }
}

export type GateVerdict =
  | { readonly state: 'held' }
  | { readonly state: 'open'; readonly frames: Frame[] }
  | { readonly state: 'failed'; readonly failure: UpstreamFailure }
