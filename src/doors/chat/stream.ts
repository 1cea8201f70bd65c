import { type GatewayError, renderError } from '../../core/errors.ts'
import {
  type ChunkIdentity,
  type Frame,
  mergeIdentity,
  type StreamIdentity,
} from '../../core/frame.ts'
import { newCompletionId } from '../../core/ids.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import { renderUsage, type Usage } from '../../core/usage.ts'
import type { WriterContext } from '../../data-plane/index.ts'
import { encodeDataEvent, unrequestedChoices } from '../../stream/chunk-writer.ts'
import type { FinalUsage, StreamWriter } from '../../stream/stream-writer.ts'
import { concat } from '../../wire/byte-list.ts'

/**
 * Writes a stream of chunks, whose bytes the frames already have. Usage that the client has not received in
 * this form is sent in a chunk before the terminator, so every client gets a count.
 */
export class ChatStreamWriter implements StreamWriter {
  readonly #context: WriterContext
  readonly #wantsUsageChunk: boolean
  #identity: ChunkIdentity = unknownIdentity

  constructor(context: WriterContext, wantsUsageChunk: boolean) {
    this.#context = context
    this.#wantsUsageChunk = wantsUsageChunk
  }

  write({ bytes, identity }: Frame): Uint8Array {
    if (identity) this.#identity = mergeIdentity(this.#identity, identity)
    return bytes
  }

  ping(): Uint8Array {
    return ping
  }

  complete({ bytes }: Frame, { usage, isInBytes }: FinalUsage): Uint8Array {
    return isInBytes ? bytes : concat([this.#encodeUsage(usage), bytes])
  }

  /** No `[DONE]` follows: official SDKs take a stream that ends for a complete one. */
  fail(error: GatewayError): Uint8Array {
    return encodeDataEvent(renderError(error, this.#context.requestId))
  }

  #encodeUsage(usage: Usage): Uint8Array {
    return encodeDataEvent({
      ...completeIdentity(this.#identity, this.#context),
      choices: this.#wantsUsageChunk ? [] : unrequestedChoices,
      usage: renderUsage(usage),
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
  context: WriterContext,
): StreamIdentity & { readonly object: string } {
  return {
    id: id ?? newCompletionId(),
    object: 'chat.completion.chunk',
    created: created ?? unixSeconds(context.clock),
    model: model ?? context.model,
  }
}
