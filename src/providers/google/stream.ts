import { getVendorError, type UpstreamFailure } from '../../core/failure.ts'
import { type Frame, type FrameDecoder, flatMapFrames } from '../../core/frame.ts'
import { newCompletionId } from '../../core/ids.ts'
import { unixSeconds } from '../../core/unix-seconds.ts'
import type { ReportedUsage } from '../../core/usage.ts'
import { ChunkWriter, noBytes } from '../../stream/chunk-writer.ts'
import { isObject, tryParseJson } from '../../wire/json/parse.ts'
import { RepeatedJson } from '../../wire/json/repeated.ts'
import { type RawEvent, SseSplitter } from '../../wire/sse.ts'
import { toShapeFailure } from '../base/hidden-error.ts'
import { parseFailure } from './errors.ts'
import { repeatedPieces } from './events.ts'
import { findFailedFinish } from './finish-reason.ts'
import {
  type AnswerContext,
  createPartReader,
  type GeminiResponse,
  listCandidates,
  readServedTier,
} from './response.ts'
import { StreamChoice } from './stream-choice.ts'
import { ToolCounter } from './tool-calls.ts'
import { parseUsage } from './usage.ts'

const decoder = new TextDecoder()

/**
 * Decodes a stream of `GenerateContentResponse` events. The stream has no terminator: it is
 * complete once every candidate has a finish reason, but ends only with its body, because usage and
 * even calls may follow a finish reason.
 */
export class GeminiStream implements FrameDecoder {
  readonly #context: AnswerContext
  readonly #tools: ToolCounter
  readonly #splitter = new SseSplitter()
  readonly #events = new RepeatedJson(repeatedPieces)
  readonly #choices = new Map<number, StreamChoice>()
  #id: string | null | undefined
  #writer: ChunkWriter | undefined
  /** Without a prototype, because the vendor chooses the names of its members. */
  readonly #usage: Record<string, unknown> = Object.create(null)

  constructor(context: AnswerContext) {
    this.#context = context
    this.#tools = new ToolCounter(context.model.generation)
  }

  push(bytes: Uint8Array): Frame[] {
    return flatMapFrames(this.#splitter.push(bytes), (event) => this.#read(event))
  }

  *end(): Generator<Frame> {
    yield* flatMapFrames(this.#splitter.end(), (event) => this.#read(event))
    yield* this.#finish()
  }

  breakOff(): Frame[] {
    return [...this.#finish()]
  }

  #read({ data, bytes }: RawEvent): Frame[] {
    // Some proxies add the terminator of the OpenAI API.
    if (data?.startsWith('[DONE]')) return [...this.#finish()]
    const response = data ? this.#events.parse(data) : undefined
    if (data && response && !isBlank(response)) return this.#translate(response, { data, bytes })
    const value = tryParseJson(data ?? decoder.decode(bytes))
    // The service may also send an error as bare JSON, without `data:`.
    const failure = parseFailure(value)
    if (failure) return this.#fail(bytes, failure, value)
    if (!data) return []
    const unread = toShapeFailure(value, 'a stream event is not a GenerateContentResponse')
    const isHarmless = response !== undefined && getVendorError(unread) === undefined
    return isHarmless ? [] : this.#fail(bytes, unread)
  }

  /** Reports a failure, unless the answer is complete: then it ends the stream normally. */
  #fail(bytes: Uint8Array, failure: UpstreamFailure, event?: unknown): Frame[] {
    const metadata = isObject(event) ? event['usageMetadata'] : undefined
    const usage = isObject(metadata) ? this.#count(metadata) : undefined
    const end = [...this.#finish()]
    if (end.length > 0) return end
    const failed: Frame = { bytes, kind: 'error', failure, outputBytes: 0 }
    // Only an answer has counts, which is billed although it has failed.
    return [usage ? { ...failed, usage, isBilled: true } : failed]
  }

  #translate(response: GeminiResponse, { data, bytes }: EventText): Frame[] {
    this.#id ||= response.responseId
    const candidates = listCandidates(response)
    this.#tools.add(candidates)
    const failure = findFailedFinish(candidates)
    if (failure) return [this.#toFailedFinish(bytes, failure, response)]
    const readPart = createPartReader(data)
    const frames = flatMapFrames(candidates, (candidate) => {
      const choice = this.#choices.get(candidate.index) ?? this.#newChoice(candidate.index)
      this.#choices.set(candidate.index, choice)
      return choice.translate(candidate, readPart)
    })
    if (!isObject(response.usageMetadata)) return frames
    const last = frames.pop() ?? { bytes: noBytes, kind: 'quiet', outputBytes: 0 }
    frames.push(withUsage(last, this.#count(response.usageMetadata)))
    return frames
  }

  /** Nothing of the event counts but its usage: what it has beside such a reason is no answer. */
  #toFailedFinish(
    bytes: Uint8Array,
    failure: UpstreamFailure,
    { usageMetadata }: GeminiResponse,
  ): Frame {
    const usage = isObject(usageMetadata) ? this.#count(usageMetadata) : undefined
    return { bytes, kind: 'error', failure, outputBytes: 0, usage, isBilled: true }
  }

  /** Counts are running totals, and some appear in early events only: the last of each counts. */
  #count(metadata: Record<string, unknown>): ReportedUsage | undefined {
    Object.assign(this.#usage, metadata)
    return this.#parseUsage()
  }

  #parseUsage(): ReportedUsage | undefined {
    const tier = readServedTier(this.#context.header)
    return parseUsage(this.#usage, { tier, tools: this.#tools.counts })
  }

  #newChoice(index: number): StreamChoice {
    const { target, names } = this.#context
    const { modelId, clock } = target
    const created = unixSeconds(clock)
    const id = this.#id || newCompletionId()
    this.#writer ??= new ChunkWriter({ id, created, model: modelId })
    return new StreamChoice({ index, writer: this.#writer.forChoice(index), created, names })
  }

  /**
   * Returns the end of a complete stream; no frames when it is incomplete. A second call is
   * harmless, because no frame after the terminator reaches the client.
   */
  *#finish(): Generator<Frame> {
    const choices = [...this.#choices.values()].sort((a, b) => a.index - b.index)
    const last = choices.pop()
    if (!last?.isFinished || !choices.every((other) => other.isFinished)) return
    for (const choice of choices) {
      yield* choice.flush()
      yield choice.writer.finishChoice(choice.finishReason, choice.extra)
    }
    yield* last.flush()
    yield* last.writer.finish(last.finishReason, this.#parseUsage(), last.extra)
  }
}

/** An event, as it came and with its data. */
interface EventText {
  readonly bytes: Uint8Array
  readonly data: string
}

/** Names each member: a spread costs more than the rest of the frame. */
function withUsage(
  { bytes, kind, identity, choices, output, outputBytes, finished }: Frame,
  usage: ReportedUsage | undefined,
): Frame {
  return { bytes, kind, usage, identity, choices, output, outputBytes, finished }
}

/** True for an event of this API that says nothing, and for any other object. */
function isBlank({
  candidates,
  promptFeedback,
  usageMetadata,
  responseId,
}: GeminiResponse): boolean {
  return (candidates ?? promptFeedback ?? usageMetadata ?? responseId ?? undefined) === undefined
}
