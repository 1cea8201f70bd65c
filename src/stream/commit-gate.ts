import type { UpstreamFailure } from '../core/failure.ts'
import { type Frame, latestIdentity } from '../core/frame.ts'
import { ByteList } from '../wire/byte-list.ts'

/**
 * Holds a stream back until its first content frame, so that an upstream that fails before it has
 * said anything can still be replaced, with nothing of it shown to the client.
 */
export class CommitGate {
  readonly #limit: number
  readonly #held: Frame[] = []
  /** What the quiet frames since the last other one report, and their bytes. */
  #quiet: Frame | undefined
  readonly #quietBytes = new ByteList()
  #heldBytes = 0

  /** Over `limit` bytes without content the stream is no answer, and is not held any longer. */
  constructor(limit: number) {
    this.#limit = limit
  }

  /** `open` with every frame so far once there is content; `failed` at an error or an early end. */
  push(frames: readonly Frame[]): GateVerdict {
    let open = false
    for (const frame of frames) {
      if (open) {
        this.#held.push(frame)
        continue
      }
      this.#hold(frame)
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

  /** Quiet frames in a row are held as one, since a frame of a few bytes takes a hundred. */
  #hold(frame: Frame): void {
    this.#heldBytes += frame.bytes.length
    if (frame.kind === 'quiet') {
      this.#quietBytes.push(frame.bytes)
      this.#quiet = this.#quiet ? joined(this.#quiet, frame) : frame
      return
    }
    if (this.#quiet) this.#held.push({ ...this.#quiet, bytes: this.#quietBytes.takeAll() })
    this.#quiet = undefined
    this.#held.push(frame)
  }
}

export type GateVerdict =
  | { readonly state: 'held' }
  | { readonly state: 'open'; readonly frames: Frame[] }
  | { readonly state: 'failed'; readonly failure: UpstreamFailure }

/** What two frames report together: the later one's word counts. */
function joined(first: Frame, second: Frame): Frame {
  return {
    ...first,
    usage: second.usage ?? first.usage,
    owesUsage: second.usage ? second.owesUsage : first.owesUsage,
    identity:
      first.identity && second.identity
        ? latestIdentity(first.identity, second.identity)
        : (second.identity ?? first.identity),
    output: (first.output ?? '') + (second.output ?? ''),
    outputBytes: first.outputBytes + second.outputBytes,
  }
}
