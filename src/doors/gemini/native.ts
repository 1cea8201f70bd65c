import type { GatewayError } from '../../core/errors.ts'
import type { Frame } from '../../core/frame.ts'
import type { WriterContext } from '../../data-plane/index.ts'
import { noBytes } from '../../stream/chunk-writer.ts'
import type { FinalUsage, StreamWriter } from '../../stream/stream-writer.ts'
import { concat } from '../../wire/byte-list.ts'
import { SseSplitter } from '../../wire/sse.ts'
import type { AnswerShape } from './address.ts'
import { ChunkFraming } from './chunks.ts'
import { renderGeminiError } from './error.ts'
import { renderUsageMetadata } from './usage.ts'

/**
 * Writes a stream whose frames have the bytes of this API: the events as they are, or the same chunks as the items
 * of an array. Usage that the upstream has not reported follows in a chunk of its own.
 */
export class NativeStreamWriter implements StreamWriter {
  readonly cutsFailures = true
  readonly #context: WriterContext
  readonly #framing: ChunkFraming
  readonly #isArray: boolean

  constructor(context: WriterContext, shape: AnswerShape) {
    this.#context = context
    this.#framing = new ChunkFraming(shape)
    this.#isArray = shape === 'array'
  }

  write({ bytes }: Frame): Uint8Array {
    if (!this.#isArray || bytes.length === 0) return bytes
    const splitter = new SseSplitter()
    const items = [...splitter.push(bytes), ...splitter.end()].flatMap(({ data }) =>
      data ? [this.#framing.frame(data)] : [],
    )
    return encoder.encode(items.join(''))
  }

  ping(): Uint8Array {
    return encoder.encode(this.#framing.ping)
  }

  complete(last: Frame, { usage, isInBytes }: FinalUsage): Uint8Array {
    const counts = isInBytes
      ? ''
      : this.#framing.frame(JSON.stringify({ usageMetadata: renderUsageMetadata(usage) }))
    const bytes = last.bytes.length === 0 ? noBytes : this.write(last)
    return concat([bytes, encoder.encode(counts + this.#framing.end)])
  }

  fail(error: GatewayError): Uint8Array {
    const body = renderGeminiError(error, this.#context.requestId)
    return encoder.encode(this.#framing.frame(JSON.stringify(body)))
  }
}

const encoder = new TextEncoder()
