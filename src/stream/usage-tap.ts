import {
  type ChunkIdentity,
  type Frame,
  mergeIdentity,
  type StreamIdentity,
} from '../core/frame.ts'
import type { StageController, Transformer } from '../core/streams.ts'
import { type ReportedUsage, resolveUsage, type Usage } from '../core/usage.ts'
import { createUsageChunk } from './chunk-writer.ts'

export interface UsageTapOptions {
  /** The client asked for a usage chunk. */
  readonly wantsUsageChunk: boolean
  /** Stands in for what the stream does not say of its identity. */
  readonly identity: () => StreamIdentity
  /** Counts for the upstream that does not, from the bytes of text it has sent. */
  readonly estimate: (outputBytes: number) => Usage
  /** The text is wanted at the end, to be counted exactly. */
  readonly shouldKeepOutput: boolean
}

/** The longest text that is kept, in UTF-8 bytes. */
const maxKeptBytes = 1024 * 1024

/**
 * Reads the token counts that pass, and judges them at the end of the stream. Usage that the client
 * has not read by then, or not in this form, gets a chunk of its own before the terminator, so no
 * client is left without a count.
 */
export class UsageTap implements Transformer<Frame[], Frame[]> {
  readonly #options: UsageTapOptions
  #reported: ReportedUsage | undefined
  /** The client has not been shown what was reported. */
  #isOwed = false
  #identity: ChunkIdentity = unknownIdentity
  #outputBytes = 0
  #output: string | undefined
  #judged: Usage | undefined

  constructor(options: UsageTapOptions) {
    this.#options = options
    if (options.shouldKeepOutput) this.#output = ''
  }

  transform(frames: Frame[], out: StageController<Frame[]>): void {
    for (const frame of frames) {
      if (frame.usage) {
        // Running totals and repeats: the last report counts, reports are never added up.
        this.#reported = frame.usage
        this.#isOwed = frame.hasUnsentUsage === true
      }
      if (frame.identity) this.#identity = mergeIdentity(this.#identity, frame.identity)
      this.#outputBytes += frame.outputBytes
      if (this.#output !== undefined && frame.output) this.#keep(this.#output + frame.output)
    }
    const last = frames.at(-1)
    if (last?.kind !== 'done') return out.enqueue(frames)
    this.#judged = this.usage
    const isRead = this.#judged.estimatedSide === undefined && !this.#isOwed
    out.enqueue(isRead ? frames : [...frames.slice(0, -1), this.#chunk(this.#judged), last])
  }

  /** All that was generated so far; undefined where it is not kept, or has become too long. */
  get output(): string | undefined {
    return this.#output
  }

  /** What the stream has cost so far: as reported, else estimated from what has passed. */
  get usage(): Usage {
    const outputBytes = this.#outputBytes
    const estimate = () => this.#options.estimate(outputBytes)
    return this.#judged ?? resolveUsage(this.#reported, { outputBytes, estimate })
  }

  #chunk(usage: Usage): Frame {
    const { wantsUsageChunk: asked, identity: otherwise } = this.#options
    return createUsageChunk({
      identity: completeIdentity(this.#identity, otherwise),
      usage,
      isRequested: asked,
    })
  }

  #keep(output: string): void {
    this.#output = this.#outputBytes > maxKeptBytes ? undefined : output
  }
}

const unknownIdentity: ChunkIdentity = { id: undefined, created: undefined, model: undefined }

function completeIdentity(
  { id, created, model }: ChunkIdentity,
  otherwise: () => StreamIdentity,
): StreamIdentity {
  if (id !== undefined && created !== undefined && model !== undefined)
    return { id, created, model }
  const own = otherwise()
  return { id: id ?? own.id, created: created ?? own.created, model: model ?? own.model }
}
