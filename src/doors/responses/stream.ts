import type { GatewayError } from '../../core/errors.ts'
import type { Frame } from '../../core/frame.ts'
import { renderResponsesUsage } from '../../core/responses-usage.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import type { WriterContext } from '../../data-plane/index.ts'
import { noBytes } from '../../stream/chunk-writer.ts'
import { Slab } from '../../stream/slab.ts'
import type { FinalUsage, StreamWriter } from '../../stream/stream-writer.ts'
import { stringifyJson } from '../../wire/json/raw.ts'
import { readChoice } from '../choice.ts'
import { type AnswerBase, findIncompleteReason, isFirstChoice } from './answer.ts'
import { renderResponsesError } from './error.ts'
import { ResponseOutput } from './output.ts'
import {
  type IncompleteReason,
  newResponseId,
  type ResponseState,
  renderResponse,
} from './response.ts'

/**
 * Writes a stream of chat chunks as events of the Responses API.
 * https://platform.openai.com/docs/api-reference/responses-streaming
 */
export class ResponsesStreamWriter implements StreamWriter {
  readonly #context: WriterContext
  readonly #base: AnswerBase
  readonly #id = newResponseId()
  readonly #createdAt: number
  readonly #output: ResponseOutput
  readonly #slab = new Slab()
  #incompleteReason: IncompleteReason | undefined
  #sequence = 0
  /** Events that have not been returned yet. */
  #pending = ''

  constructor(context: WriterContext, base: AnswerBase) {
    this.#context = context
    this.#base = base
    this.#createdAt = unixSeconds(context.clock)
    this.#output = new ResponseOutput({
      emit: (type, members) => this.#emit(type, stringifyJson(members)),
      responseId: this.#id,
      model: context.model,
      names: base.names,
    })
  }

  write({ choices }: Frame): Uint8Array {
    this.#start()
    // Frames that were held together have a choice of each.
    for (const choice of choices ?? []) {
      if (!isFirstChoice(choice)) continue
      const content = readChoice(choice)
      this.#output.add(content)
      this.#incompleteReason = findIncompleteReason(content.finishReason) ?? this.#incompleteReason
    }
    return this.#take()
  }

  ping(): Uint8Array {
    return ping
  }

  complete(_last: Frame, { usage }: FinalUsage): Uint8Array {
    this.#start()
    const status = this.#incompleteReason ? 'incomplete' : 'completed'
    const output = this.#output.finish(status)
    this.#emitResponse(`response.${status}`, {
      status,
      output,
      usage: renderResponsesUsage(usage),
      tier: usage.billing?.tier,
      completedAt: status === 'completed' ? unixSeconds(this.#context.clock) : null,
      incompleteReason: this.#incompleteReason,
    })
    return this.#take()
  }

  /** Open items stay open: a client must not run a call whose arguments are cut off. */
  fail(error: GatewayError): Uint8Array {
    this.#start()
    this.#emitResponse('response.failed', {
      status: 'failed',
      output: this.#output.render(),
      error: renderResponsesError(error, this.#context.requestId).error,
    })
    return this.#take()
  }

  #start(): void {
    if (this.#sequence > 0) return
    this.#emitResponse('response.created', {})
    this.#emitResponse('response.in_progress', {})
  }

  #emitResponse(type: string, state: Partial<ResponseState>): void {
    const response = renderResponse(
      {
        id: this.#id,
        createdAt: this.#createdAt,
        completedAt: null,
        model: this.#context.model,
        status: 'in_progress',
        error: null,
        incompleteReason: undefined,
        output: [],
        usage: null,
        ...state,
      },
      this.#base.echo,
    )
    this.#emit(type, `{"response":${response}}`)
  }

  #emit(type: string, members: string): void {
    this.#pending += encodeEvent(type, this.#sequence++, members)
  }

  #take(): Uint8Array {
    if (this.#pending === '') return noBytes
    const bytes = this.#slab.encode(this.#pending)
    this.#pending = ''
    return bytes
  }
}

/** Renders one event. `members` is the text of a JSON object that is not empty. */
export function encodeEvent(type: string, sequence: number, members: string): string {
  const data = `{"type":"${type}","sequence_number":${sequence},${members.slice(1)}`
  return `event: ${type}\ndata: ${data}\n\n`
}

/** A comment with ONE line end. With a blank line after it, some official SDKs would read an empty event. */
export const ping: Uint8Array = new TextEncoder().encode(': ping\n')
