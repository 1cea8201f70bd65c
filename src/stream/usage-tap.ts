import type { Frame, Stage, StreamIdentity } from '../core/frame.ts'
import { isCredible, type Usage } from '../core/usage.ts'
import { usageChunk } from './chunk-writer.ts'

export interface UsageTapOptions {
  /** The client asked for a usage chunk. */
  readonly asked: boolean
  /** The upstream was made to send a usage chunk that the client must not see. */
  readonly hidesUsageChunk: boolean
  /** Stands in for an identity that the stream never told. */
  readonly identity: () => StreamIdentity
  /** Counts for the upstream that does not, from the bytes of text it has sent. */
  readonly estimate: (outputBytes: number) => Usage
  /** The text is wanted at the end, to be counted exactly. */
  readonly keepsOutput: boolean
}

/** The longest text that is kept, in UTF-8 bytes. */
const mostKept = 1024 * 1024

/**
 * Reads the token counts that pass. A stream that reaches its end without any gets a chunk with an
 * estimate before its terminator, so no client is left without a count.
 */
export class UsageTap implements Stage {
  readonly #options: UsageTapOptions
  #reported: Usage | undefined
  #identity: StreamIdentity | undefined
  #outputBytes = 0
  #output: string | undefined

  constructor(options: UsageTapOptions) {
    this.#options = options
    if (options.keepsOutput) this.#output = ''
  }

  push(frames: Frame[]): Frame[] {
    for (const frame of frames) {
      // Running totals and repeats: the last report counts, reports are never added up.
      if (frame.usage) this.#reported = frame.usage
      if (frame.identity) this.#identity = frame.identity
      this.#outputBytes += frame.outputBytes
      if (this.#output !== undefined && frame.output) this.#keep(this.#output + frame.output)
    }
    const { asked, hidesUsageChunk, identity } = this.#options
    const shown = hidesUsageChunk ? frames.filter((frame) => !frame.usageOnly) : frames
    const last = shown.at(-1)
    if (last?.kind !== 'done' || isCredible(this.#reported, this.#outputBytes)) return shown
    const chunk = usageChunk({ identity: this.#identity ?? identity(), usage: this.usage, asked })
    return [...shown.slice(0, -1), chunk, last]
  }

  /** All that was generated so far; undefined where it is not kept, or has become too long. */
  get output(): string | undefined {
    return this.#output
  }

  /** What the stream has cost so far: as reported, else estimated from what has passed. */
  get usage(): Usage {
    return isCredible(this.#reported, this.#outputBytes)
      ? this.#reported
      : this.#options.estimate(this.#outputBytes)
  }

  #keep(output: string): void {
    this.#output = this.#outputBytes > mostKept ? undefined : output
  }
}
