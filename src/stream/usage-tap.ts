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
  /** The client requested a usage chunk. */
  readonly wantsUsageChunk: boolean
  /** Provides the parts of the identity that the stream does not contain. */
  readonly identity: () => StreamIdentity
  /** Estimates the usage of an upstream that reports none, from the bytes of text it sent. */
  readonly estimate: (outputBytes: number) => Usage
  /** Keeps the generated text, for an exact count at the end. */
  readonly shouldKeepOutput: boolean
}

/** The longest text that is kept, in UTF-8 bytes. A longer one is not counted exactly. */
const maxKeptBytes = 1024 * 1024

/**
 * Reads the token counts of a stream, and resolves its usage at the end. Usage that the client has not
 * received in this form is sent in a chunk before the terminator, so every client gets a count.
 */
export class UsageTap implements Transformer<Frame[], Frame[]> {
  readonly #options: UsageTapOptions
  #reported: ReportedUsage | undefined
  /** The client has not received the reported usage. */
  #isOwed = false
  #identity: ChunkIdentity = unknownIdentity
  #outputBytes = 0
  #output: string | undefined
  #resolved: Usage | undefined

  constructor(options: UsageTapOptions) {
    this.#options = options
    if (options.shouldKeepOutput) this.#output = ''
  }

  transform(frames: Frame[], out: StageController<Frame[]>): void {
    for (const frame of frames) {
      if (frame.usage) {
        // Upstreams repeat running totals, so the last report counts and reports are never summed.
        this.#reported = frame.usage
        this.#isOwed = frame.hasUnsentUsage === true
      }
      if (frame.identity) this.#identity = mergeIdentity(this.#identity, frame.identity)
      this.#outputBytes += frame.outputBytes
      if (this.#output !== undefined && frame.output) this.#keep(this.#output + frame.output)
    }
    const last = frames.at(-1)
    if (last?.kind !== 'done') return out.enqueue(frames)
    this.#resolved = this.usage
    const isRead = this.#resolved.estimatedSide === undefined && !this.#isOwed
    out.enqueue(isRead ? frames : [...frames.slice(0, -1), this.#chunk(this.#resolved), last])
  }

  /** The text generated so far; undefined where it is not kept, or too long. */
  get output(): string | undefined {
    return this.#output
  }

  /** The usage so far: as reported, or else estimated from the text that has passed. */
  get usage(): Usage {
    const outputBytes = this.#outputBytes
    const estimate = () => this.#options.estimate(outputBytes)
    return this.#resolved ?? resolveUsage(this.#reported, { outputBytes, estimate })
  }

  #chunk(usage: Usage): Frame {
    const { wantsUsageChunk, identity: otherwise } = this.#options
    return createUsageChunk({
      identity: completeIdentity(this.#identity, otherwise),
      usage,
      isRequested: wantsUsageChunk,
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
