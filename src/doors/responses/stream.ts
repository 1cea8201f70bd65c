import type { GatewayError } from '../../core/errors.ts'
import type { Frame } from '../../core/frame.ts'
import { renderResponsesUsage } from '../../core/responses-usage.ts'
import type { Steps } from '../../core/steps.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import type { Usage } from '../../core/usage.ts'
import type { WriterContext } from '../../data-plane/index.ts'
import { noBytes } from '../../stream/chunk-writer.ts'
import { Slab } from '../../stream/slab.ts'
import type { FinalUsage, LastBytes, StreamWriter } from '../../stream/stream-writer.ts'
import { concat } from '../../wire/byte-list.ts'
import { stringifyJson } from '../../wire/json/raw.ts'
import { readChoice } from '../choice.ts'
import { WholeCharacters } from '../whole-characters.ts'
import { type AnswerBase, findIncompleteReason, isFirstChoice } from './answer.ts'
import { EarlyResponse } from './early.ts'
import { renderResponsesError } from './error.ts'
import { beginEvent, encodeEvent, endOfEvent, ping } from './events.ts'
import { ResponseOutput } from './output.ts'
import {
  type IncompleteReason,
  newResponseId,
  type ResponseState,
  renderPieces,
  renderResponse,
} from './response.ts'

/**
 * Writes a stream of chat chunks as events of the Responses API.
 * https://platform.openai.com/docs/api-reference/responses-streaming
 */
export class ResponsesStreamWriter implements StreamWriter {
  readonly #context: WriterContext
  readonly #base: AnswerBase
  readonly #id: string
  readonly #createdAt: number
  readonly #output: ResponseOutput
  readonly #slab = new Slab()
  readonly #characters = new WholeCharacters()
  #incompleteReason: IncompleteReason | undefined
  #sequence: number
  #hasStarted = false
  /** Events that have not been returned yet. */
  #pending = ''
  /** The length of those that have been returned. */
  #written = 0

  constructor(context: WriterContext, base: AnswerBase) {
    this.#context = context
    this.#base = base
    const early = context.early instanceof EarlyResponse ? context.early : undefined
    this.#id = early?.id ?? newResponseId()
    this.#createdAt = early?.createdAt ?? unixSeconds(context.clock)
    // The client has the first event already.
    this.#sequence = early ? 1 : 0
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
      const content = this.#characters.read(readChoice(choice))
      this.#output.add(content)
      this.#incompleteReason = findIncompleteReason(content.finishReason) ?? this.#incompleteReason
    }
    return this.#take()
  }

  ping(): Uint8Array {
    return ping
  }

  complete(_last: Frame, { usage }: FinalUsage): LastBytes {
    this.#start()
    return this.#writeLast(this.#complete(usage))
  }

  /** Open items stay open: a client must not run a call whose arguments are cut off. */
  fail(error: GatewayError): LastBytes {
    this.#start()
    const state = {
      status: 'failed',
      output: this.#output.render(),
      error: renderResponsesError(error, this.#context.requestId).error,
    } as const
    return this.#writeLast(this.#emitInPieces('response.failed', state))
  }

  *#complete(usage: Usage): Steps<void> {
    const status = this.#incompleteReason ? 'incomplete' : 'completed'
    yield* this.#output.finish(status)
    yield* this.#emitInPieces(`response.${status}`, {
      status,
      output: this.#output.render(),
      usage: renderResponsesUsage(usage),
      tier: usage.billing?.tier,
      completedAt: status === 'completed' ? unixSeconds(this.#context.clock) : null,
      incompleteReason: this.#incompleteReason,
    })
  }

  /** Writes the events that end the stream: in pieces if they repeat a long answer. */
  #writeLast(steps: Steps<void>): LastBytes {
    const pieces = this.#takePieces(steps)
    return this.#written > maxShortStream ? pieces : concat([...pieces])
  }

  *#takePieces(steps: Steps<void>): Generator<Uint8Array> {
    for (const _ of steps) if (this.#pending.length >= pieceLength) yield this.#take()
    yield this.#take()
  }

  #start(): void {
    if (this.#hasStarted) return
    this.#hasStarted = true
    if (this.#sequence === 0) this.#emitResponse('response.created', {})
    this.#emitResponse('response.in_progress', {})
  }

  #emitResponse(type: string, state: Partial<ResponseState>): void {
    const response = renderResponse(this.#createState(state), this.#base.echo)
    this.#emit(type, `{"response":${response}}`)
  }

  *#emitInPieces(type: string, state: Partial<ResponseState>): Steps<void> {
    this.#pending += `${beginEvent(type, this.#sequence++)}"response":`
    for (const piece of renderPieces(this.#createState(state), this.#base.echo)) {
      this.#pending += piece
      yield
    }
    this.#pending += endOfEvent
  }

  #createState(state: Partial<ResponseState>): ResponseState {
    return {
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
    }
  }

  #emit(type: string, members: string): void {
    this.#pending += encodeEvent(type, this.#sequence++, members)
  }

  #take(): Uint8Array {
    if (this.#pending === '') return noBytes
    this.#written += this.#pending.length
    const bytes = this.#slab.encode(this.#pending)
    this.#pending = ''
    return bytes
  }
}

/** The length of a stream whose end is written at once, in characters: it repeats the answer some times. */
const maxShortStream = 256 * 1024

/** The length of a piece of a longer one. */
const pieceLength = 64 * 1024
