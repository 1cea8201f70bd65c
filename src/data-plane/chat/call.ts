import type {
  AnswerBody,
  AnswerResult,
  DialectRequest,
  FailedAnswer,
  HeaderReader,
  ListedAnswer,
  NativeAnswer,
  UpstreamError,
} from '../../core/endpoints.ts'
import type { UpstreamFailure } from '../../core/failure.ts'
import { filteredAnswer } from '../../core/fallback.ts'
import type { Bytes } from '../../core/ids.ts'
import type { ByteSource, UpstreamResponse } from '../../core/ports.ts'
import { runInSteps } from '../../core/steps.ts'
import type { StreamClasses } from '../../core/streams.ts'
import { hasTokens, resolveUsage } from '../../core/usage.ts'
import type { Attempt, CallResult } from '../../resilience/index.ts'
import type { Snapshot } from '../../snapshot/index.ts'
import { createEstimatedUsage } from '../../tokens/index.ts'
import { BoundedQueue } from '../../wire/bounded-queue.ts'
import { parseContentCoding, undecodableFailure } from '../../wire/content-coding.ts'
import { isJsonList, isLongAnswer, readInSteps, readWhole } from '../../wire/json/answer-body.ts'
import { answerLimits, eventLimits } from '../../wire/json/parse.ts'
import { TimeSlice } from '../../wire/time-slice.ts'
import {
  type CallDeps,
  callUpstream,
  failed,
  readAnswer,
  type UpstreamCall,
} from '../upstream/call-upstream.ts'
import type { DoorCall, LinkCall } from './door.ts'
import { openStream, type PendingStream } from './reply-stream.ts'

export type ChatResponse =
  | { readonly kind: 'answer'; readonly answer: NativeAnswer; readonly isLong: boolean }
  | { readonly kind: 'stream'; readonly stream: PendingStream }

/** The gateway translates an answer with this many values, and writes it, in some tens of milliseconds each. */
const maxTranslatedValues = 200_000

/** The pieces in which the gateway reads a stream that it has written: between them it may yield. */
const pieceBytes = 64 * 1024

/** What every upstream call of one chat request needs. */
export interface ChatCallDeps extends CallDeps {
  /** Lets the next large body be parsed: this one is translated. */
  releaseParser(): void
  readonly snapshot: Pick<Snapshot, 'answerLimit'>
  readonly streams: StreamClasses
}

/** One upstream call for chat. */
export interface ChatAttempt {
  readonly attempt: Attempt
  /** An answer without content that the vendor's content filter has ended is a failure. */
  readonly failsFiltered: boolean
}

/** Makes one upstream call. It ends with the whole answer, or with the first content of a stream. */
export function callChat(
  call: DoorCall,
  attempt: ChatAttempt,
  deps: ChatCallDeps,
): Promise<CallResult<ChatResponse>> {
  return callUpstream(new ChatUpstreamCall(call, attempt, deps))
}

/** The bytes of an answer, with the events of a list that came in place of a stream. */
type GivenAnswer = Pick<ListedAnswer, 'whole'> & Partial<ListedAnswer>

/** An answer that is parsed. */
interface ParsedAnswer {
  readonly body: AnswerBody
  readonly events: ListedAnswer['events'] | undefined
  readonly result: AnswerResult<NativeAnswer>
  /** For further work on a long answer; undefined for a short one, which is read at once. */
  readonly slice: TimeSlice | undefined
}

/** One call for chat: how its request is written, and how its answer is read. */
class ChatUpstreamCall implements UpstreamCall<ChatResponse> {
  readonly attempt: Attempt
  readonly deps: ChatCallDeps
  readonly streamed: boolean
  readonly maxAnswerBytes: Bytes
  readonly #call: DoorCall
  readonly #bound: LinkCall
  readonly #failsFiltered: boolean

  constructor(call: DoorCall, { attempt, failsFiltered }: ChatAttempt, deps: ChatCallDeps) {
    this.attempt = attempt
    this.deps = deps
    this.streamed = call.stream
    this.maxAnswerBytes = deps.snapshot.answerLimit
    this.#call = call
    this.#bound = call.bind(attempt.link)
    this.#failsFiltered = failsFiltered
  }

  request(): DialectRequest | Promise<DialectRequest> {
    if (!this.#call.isHeavy) return this.#build()
    // A link that is tried again has to be prepared again.
    const preparing = this.#call.prepareFor?.(this.attempt.link, this.#startSlice())
    return preparing ? preparing.then(() => this.#build()) : this.#build()
  }

  parseError(status: number, body: string, header: HeaderReader): UpstreamError {
    return this.#bound.parseError(status, body, header)
  }

  async read(response: UpstreamResponse, header: HeaderReader): Promise<CallResult<ChatResponse>> {
    if (this.streamed) {
      return readMediaType(response) === (this.#bound.streamType ?? 'text/event-stream')
        ? this.#openEvents(response.body, header)
        : this.#readMistyped(response, header)
    }
    const parsing = this.#parse(await this.#readBytes(response), header)
    const { result, slice } = parsing instanceof Promise ? await parsing : parsing
    if (!result.ok) return this.#toFailedCall(result)
    const { answer } = result
    if (this.#failsFiltered && answer.isFiltered) {
      return this.#toFailedCall({ ok: false, failure: filteredAnswer, usage: answer.usage })
    }
    return { ok: true, value: { kind: 'answer', answer, isLong: slice !== undefined } }
  }

  #build(): DialectRequest {
    const request = this.#bound.buildRequest()
    this.#call.forget()
    this.deps.releaseParser()
    return request
  }

  #startSlice(): TimeSlice {
    return new TimeSlice(this.deps.clock, this.attempt.scope)
  }

  #readBytes(response: UpstreamResponse): Promise<Uint8Array> {
    const { scope } = this.attempt
    const { bufferAccount } = this.deps
    return readAnswer(response, { scope, bufferAccount, maxBytes: this.maxAnswerBytes })
  }

  /** A short answer is parsed at once. */
  #parse(bytes: Uint8Array, header: HeaderReader): ParsedAnswer | Promise<ParsedAnswer> {
    if (isJsonList(bytes)) return this.#parseList(bytes, header)
    if (isLongAnswer(bytes)) return this.#parseInSteps({ whole: bytes }, header)
    return this.#parseWhole({ whole: bytes }, header)
  }

  /** Each event of a list becomes an event again, so that together they may have more values. */
  async #parseList(bytes: Uint8Array, header: HeaderReader): Promise<ParsedAnswer> {
    const slice = this.#startSlice()
    const body = await readInSteps(bytes, { slice, maxValues: answerLimits.maxValues })
    const steps = this.#bound.readList(body)
    const list: GivenAnswer = (steps && (await runInSteps(steps, () => slice.pause()))) ?? {
      whole: bytes,
    }
    return isLongAnswer(list.whole)
      ? this.#parseInSteps(list, header)
      : this.#parseWhole(list, header)
  }

  #parseWhole({ whole, events }: GivenAnswer, header: HeaderReader): ParsedAnswer {
    const body = readWhole(whole)
    return { body, events, result: this.#bound.parseAnswer(body, header), slice: undefined }
  }

  async #parseInSteps({ whole, events }: GivenAnswer, header: HeaderReader): Promise<ParsedAnswer> {
    const bound = this.#bound
    const slice = this.#startSlice()
    const body = await readInSteps(whole, { slice, maxValues: this.#limitValues(!events) })
    await slice.pause()
    const steps = bound.parseAnswerInSteps?.(body, header)
    const result = steps
      ? await runInSteps(steps, () => slice.pause())
      : bound.parseAnswer(body, header)
    await slice.pause()
    return { body, events, result, slice }
  }

  /** An answer in place of a stream becomes one event for each choice, unless its events are known. */
  #limitValues(becomesEvents: boolean): number {
    const { writesAnswer } = this.#bound
    if (this.streamed && becomesEvents) {
      return writesAnswer ? eventLimits.maxValues : maxTranslatedValues
    }
    return writesAnswer ? maxTranslatedValues : answerLimits.maxValues
  }

  /** Waits for the first content: until then, another attempt can replace a stream that fails. */
  async #openEvents(body: ByteSource, header: HeaderReader): Promise<CallResult<ChatResponse>> {
    const { streams, bufferAccount } = this.deps
    const stream = openStream(body, this.#bound.createDecoder(header), {
      streams,
      bufferAccount,
      failsFiltered: this.#failsFiltered,
      slice: this.#startSlice(),
    })
    const opening = await this.attempt.scope.race(stream.opened)
    if (!opening) return { ok: true, opened: true, value: { kind: 'stream', stream } }
    const { failure, usage } = opening
    return this.#toFailedCall({ ok: false, failure: toStreamFailure(failure), usage })
  }

  /** Reads the whole answer, or the error, that came in place of a stream. */
  async #readMistyped(
    response: UpstreamResponse,
    header: HeaderReader,
  ): Promise<CallResult<ChatResponse>> {
    // The coding comes first: a proxy that compresses an answer may change its type as well.
    const coding = parseContentCoding(response.header('content-encoding'))
    if (coding !== undefined) return failed(undecodableFailure(coding))
    if (!isJsonType(readMediaType(response))) return failed(notEventStream)
    const parsed = await this.#parse(await this.#readBytes(response), header)
    const { body, events: listed, result, slice } = parsed
    if (!result.ok) return this.#toFailedCall(result)
    const written = listed ? undefined : this.#bound.writeEvents(body)
    const events = listed ?? (written && cut(written))
    if (!events) return failed(notEventStream)
    if (slice) await slice.pause()
    const length = events.reduce((sum, piece) => sum + piece.length, 0)
    const source = new BoundedQueue(length, { unread: this.deps.bufferAccount.openCounter() })
    for (const piece of events) source.push(piece)
    source.end()
    return this.#openEvents(source, header)
  }

  /** A failed answer is charged by what it reports, and without a report not at all. */
  #toFailedCall({ failure, usage }: FailedAnswer): CallResult<ChatResponse> {
    if (!hasTokens(usage)) return failed(failure)
    const estimate = () => createEstimatedUsage(this.#call.promptTokens, 0)
    return { ok: false, failure, usage: resolveUsage(usage, { outputBytes: 0, estimate }) }
  }
}

function cut(bytes: Uint8Array): readonly Uint8Array[] {
  const pieces: Uint8Array[] = []
  for (let at = 0; at < bytes.length; at += pieceBytes) {
    pieces.push(bytes.subarray(at, at + pieceBytes))
  }
  return pieces
}

function isJsonType(type: string): boolean {
  return type === 'application/json' || type === 'text/json' || type.endsWith('+json')
}

const notEventStream: UpstreamFailure = Object.freeze({
  kind: 'malformed',
  detail: 'the answer to a streamed request is not an event stream',
})

/** Reads the content type, without its parameters. */
function readMediaType(response: UpstreamResponse): string {
  const [type = ''] = (response.header('content-type') ?? '').split(';')
  return type.trim().toLowerCase()
}

/** The body of the answer has begun, so a lost connection means that the stream closed early. */
function toStreamFailure(failure: UpstreamFailure): UpstreamFailure {
  const { kind } = failure
  return kind === 'network' ? { kind: 'closed-early', reason: failure.reason } : failure
}
