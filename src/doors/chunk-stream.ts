import { type GatewayError, renderError } from '../core/errors.ts'
import {
  type ChunkIdentity,
  type Frame,
  mergeIdentity,
  type StreamIdentity,
} from '../core/frame.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import { chatCounts, listEstimated, renderTier, renderUsage } from '../core/usage.ts'
import type { WriterContext } from '../data-plane/index.ts'
import { encodeDataEvent } from '../stream/chunk-writer.ts'
import type { FinalUsage, StreamWriter } from '../stream/stream-writer.ts'
import { concat } from '../wire/byte-list.ts'

/** How the chunks of one API are written. */
export interface ChunkShape {
  /** The value of `object`. */
  readonly object: string
  /** Makes up the id of a stream that has none. */
  readonly newId: () => string
  /** The choices of a usage chunk that the client did not request. */
  readonly unrequested: readonly object[]
}

export interface ChunkStreamWriterOptions {
  readonly shape: ChunkShape
  readonly context: WriterContext
  /** The client asked for a usage chunk. */
  readonly wantsUsageChunk: boolean
}

/**
 * Writes a stream of chunks, whose bytes the frames already have. Usage that the client has not received in
 * this form is sent in a chunk before the terminator, so every client gets a count.
 */
export class ChunkStreamWriter implements StreamWriter {
  readonly #options: ChunkStreamWriterOptions
  #identity: ChunkIdentity = unknownIdentity

  constructor(options: ChunkStreamWriterOptions) {
    this.#options = options
  }

  write({ bytes, identity }: Frame): Uint8Array {
    if (identity) this.#identity = mergeIdentity(this.#identity, identity)
    return bytes
  }

  ping(): Uint8Array {
    return ping
  }

  complete({ bytes }: Frame, final: FinalUsage): Uint8Array {
    return final.isInBytes ? bytes : concat([this.#encodeUsage(final), bytes])
  }

  /** No `[DONE]` follows: official SDKs take a stream that ends for a complete one. */
  fail(error: GatewayError): Uint8Array {
    return encodeDataEvent(renderError(error, this.#options.context.requestId))
  }

  /** Of the members that the upstream reported, only the counts that were estimated are written over. */
  #encodeUsage({ usage, members }: FinalUsage): Uint8Array {
    const { shape, wantsUsageChunk } = this.#options
    const counts = renderUsage(usage)
    const estimated = listEstimated(usage, chatCounts).map((name) => [name, counts[name]])
    return encodeDataEvent({
      ...completeIdentity(this.#identity, this.#options),
      choices: wantsUsageChunk ? [] : shape.unrequested,
      usage: members ? { ...counts, ...members, ...Object.fromEntries(estimated) } : counts,
      ...renderTier(usage),
    })
  }
}

/**
 * A comment with ONE line end. With a blank line after it, some official SDKs would read an empty
 * event.
 */
const ping = new TextEncoder().encode(': ping\n')

const unknownIdentity: ChunkIdentity = { id: undefined, created: undefined, model: undefined }

/** Returns the first members of a chunk. The gateway makes up what the stream does not contain. */
function completeIdentity(
  { id, created, model }: ChunkIdentity,
  { shape, context }: ChunkStreamWriterOptions,
): StreamIdentity & { readonly object: string } {
  return {
    id: id ?? shape.newId(),
    object: shape.object,
    created: created ?? unixSeconds(context.clock),
    model: model ?? context.model,
  }
}
