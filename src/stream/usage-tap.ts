import type { Frame } from '../core/frame.ts'
import type { StageController, Transformer } from '../core/streams.ts'
import { type ReportedUsage, resolveUsage, type Usage } from '../core/usage.ts'
import type { FinalUsage } from './stream-writer.ts'

export interface UsageTapOptions {
  /** Estimates the usage of an upstream that reports none, from the bytes of text it sent. */
  readonly estimate: (outputBytes: number) => Usage
  /** Keeps the generated text, for an exact count at the end. */
  readonly shouldKeepOutput: boolean
}

/** The longest text that is kept, in UTF-8 bytes. A longer one is not counted exactly. */
const maxKeptBytes = 1024 * 1024

/** Reads the token counts of a stream, and resolves its usage at the end. */
export class UsageTap implements Transformer<Frame[], Frame[]> {
  readonly #options: UsageTapOptions
  #reported: ReportedUsage | undefined
  /** The client has not received the reported usage. */
  #isOwed = false
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
      this.#outputBytes += frame.outputBytes
      if (this.#output !== undefined && frame.output) this.#keep(this.#output + frame.output)
    }
    if (frames.at(-1)?.kind === 'done') this.#resolved = this.usage
    out.enqueue(frames)
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

  /** The usage of a complete stream, and whether the client has read it. */
  get final(): FinalUsage {
    const { usage } = this
    const isInBytes = usage.estimatedSide === undefined && !this.#isOwed
    return { usage, members: this.#reported?.members, isInBytes }
  }

  #keep(output: string): void {
    this.#output = this.#outputBytes > maxKeptBytes ? undefined : output
  }
}
