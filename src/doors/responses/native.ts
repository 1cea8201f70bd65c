import type { GatewayError } from '../../core/errors.ts'
import { type ChunkIdentity, type Frame, mergeIdentity } from '../../core/frame.ts'
import { renderResponsesUsage, responsesCounts } from '../../core/responses-usage.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import { listEstimated, type Usage } from '../../core/usage.ts'
import type { WriterContext } from '../../data-plane/index.ts'
import type { FinalUsage, StreamWriter } from '../../stream/stream-writer.ts'
import { parseObject } from '../../wire/json/body.ts'
import { mergeIntoMember } from '../../wire/json/merge.ts'
import { scanLayout } from '../../wire/json/scan.ts'
import { splice } from '../../wire/json/splice.ts'
import { SseSplitter } from '../../wire/sse.ts'
import { cutCreated, EarlyResponse } from './early.ts'
import { renderResponsesError } from './error.ts'
import { encodeEvent, ping } from './events.ts'
import type { ResponsesRequest } from './fields.ts'
import { newResponseId, renderEcho, renderResponse } from './response.ts'

/** Writes a stream whose upstream speaks this API: its bytes, and what it leaves out. */
export class NativeResponsesWriter implements StreamWriter {
  readonly #context: WriterContext
  readonly #bare: Uint8Array
  readonly #startedAt: number
  #identity: ChunkIdentity = unknownIdentity
  #lastBytes: Uint8Array | undefined

  /** `bare` is the request without its input, which may be long. */
  constructor(context: WriterContext, bare: Uint8Array) {
    this.#context = context
    this.#bare = bare
    this.#startedAt = unixSeconds(context.clock)
  }

  write({ bytes, identity }: Frame): Uint8Array {
    if (identity) this.#identity = mergeIdentity(this.#identity, identity)
    const isFirst = this.#lastBytes === undefined
    if (bytes.length > 0) this.#lastBytes = bytes
    return isFirst && this.#context.early instanceof EarlyResponse ? cutCreated(bytes) : bytes
  }

  ping(): Uint8Array {
    return ping
  }

  complete({ bytes }: Frame, { usage, isInBytes }: FinalUsage): Uint8Array {
    return isInBytes ? bytes : addUsage(bytes, usage)
  }

  /** The event continues the upstream's stream: its response, its count of events. */
  fail(error: GatewayError): Uint8Array {
    // Validated when it was read.
    const request = parseObject(this.#bare) as ResponsesRequest
    const { id, created, model } = this.#identity
    const response = renderResponse(
      {
        id: id ?? newResponseId(),
        createdAt: created ?? this.#startedAt,
        completedAt: null,
        model: model ?? this.#context.model,
        status: 'failed',
        error: renderResponsesError(error, this.#context.requestId).error,
        incompleteReason: undefined,
        output: [],
        usage: null,
      },
      renderEcho(request),
    )
    const sequence = this.#lastBytes ? findSequence(this.#lastBytes) + 1 : 0
    return encoder.encode(encodeEvent('response.failed', sequence, `{"response":${response}}`))
  }
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const unknownIdentity: ChunkIdentity = { id: undefined, created: undefined, model: undefined }

/** Finds the number of the last event in the bytes of one or more. */
function findSequence(bytes: Uint8Array): number {
  const numbers = decoder.decode(bytes).matchAll(/"sequence_number":\s*(\d+)/g)
  return Math.max(-1, ...Array.from(numbers, ([, number]) => Number(number)))
}

/** Adds usage to the response of the terminal event, and keeps all its other bytes. */
function addUsage(bytes: Uint8Array, usage: Usage): Uint8Array {
  const splitter = new SseSplitter()
  const [event] = [...splitter.push(bytes), ...splitter.end()]
  if (event?.data === undefined) return bytes
  const data = encoder.encode(event.data)
  const [span] = scanLayout(data, ['response']).spans.response
  if (!span) return bytes
  const response = data.subarray(span.start, span.end)
  const replaced = listEstimated(usage, responsesCounts)
  const merge = { members: renderResponsesUsage(usage), replaced }
  const changed = mergeIntoMember(response, 'usage', merge)
  const name = event.event === undefined ? '' : `event: ${event.event}\n`
  const text = decoder.decode(splice(data, [{ span, json: changed }]))
  return encoder.encode(`${name}data: ${text.replaceAll('\n', '\ndata: ')}\n\n`)
}
