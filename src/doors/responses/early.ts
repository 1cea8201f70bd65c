import type { GatewayError } from '../../core/errors.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import type { EarlyWriter, WriterContext } from '../../data-plane/index.ts'
import { concat } from '../../wire/byte-list.ts'
import { isObject, tryParseJson } from '../../wire/json/parse.ts'
import { SseSplitter } from '../../wire/sse.ts'
import { renderResponsesError } from './error.ts'
import { encodeEvent, ping } from './events.ts'
import { newResponseId, type ResponseState, renderResponse } from './response.ts'

/** The response that a client gets before a link has sent content: it has been created, and may fail. */
export class EarlyResponse implements EarlyWriter {
  readonly id = newResponseId()
  readonly createdAt: number
  readonly #context: WriterContext
  readonly #echo: string

  /** `echo` is what the response repeats of its request. */
  constructor(context: WriterContext, echo: string) {
    this.#context = context
    this.#echo = echo
    this.createdAt = unixSeconds(context.clock)
  }

  begin(): Uint8Array {
    return this.#encode('response.created', 0, { status: 'in_progress', error: null })
  }

  ping(): Uint8Array {
    return ping
  }

  fail(error: GatewayError): Uint8Array {
    const body = renderResponsesError(error, this.#context.requestId)
    return this.#encode('response.failed', 1, { status: 'failed', error: body.error })
  }

  #encode(
    type: string,
    sequence: number,
    { status, error }: Pick<ResponseState, 'status' | 'error'>,
  ): Uint8Array {
    const { id, createdAt } = this
    const response = renderResponse(
      {
        id,
        createdAt,
        completedAt: null,
        model: this.#context.model,
        status,
        error,
        incompleteReason: undefined,
        output: [],
        usage: null,
      },
      this.#echo,
    )
    return encoder.encode(encodeEvent(type, sequence, `{"response":${response}}`))
  }
}

const encoder = new TextEncoder()

/** Leaves the event out with which an upstream begins a stream, because the client has one already. */
export function cutCreated(bytes: Uint8Array): Uint8Array {
  const splitter = new SseSplitter()
  const events = [...splitter.push(bytes), ...splitter.end()]
  return concat(events.filter(({ data }) => !isCreated(data)).map((event) => event.bytes))
}

function isCreated(data: string | undefined): boolean {
  const event = data === undefined ? undefined : tryParseJson(data)
  return isObject(event) && event['type'] === 'response.created'
}
