import type { HeaderReader } from '../../core/endpoints.ts'
import type { UpstreamFailure } from '../../core/failure.ts'
import type { Frame, FrameDecoder } from '../../core/frame.ts'
import { hasTokens, type ReportedUsage } from '../../core/usage.ts'
import { createDroppedFrame, createFailedFrame, noBytes } from '../../stream/chunk-writer.ts'
import { isObject, tryParseJson } from '../../wire/json/parse.ts'
import type { Repeated } from '../../wire/json/pattern.ts'
import { RepeatedJson } from '../../wire/json/repeated.ts'
import { type RawEvent, SseSplitter, skipBlankLines } from '../../wire/sse.ts'
import { countUtf8Bytes } from '../../wire/utf8.ts'
import { parseFailure } from './errors.ts'
import { repeatedPieces } from './events.ts'
import { findFailedFinish } from './finish-reason.ts'
import { joinOutput } from './native-output.ts'
import {
  type AnswerContext,
  type GeminiResponse,
  listCandidates,
  readServedTier,
} from './response.ts'
import { ToolCounter } from './tool-calls.ts'
import { parseUsage, recountUsage } from './usage.ts'

const decoder = new TextDecoder()

/**
 * Classifies the events of a stream whose bytes the client gets unchanged. The stream ends with its body; it is
 * complete once every candidate has a finish reason.
 */
export class NativeStream implements FrameDecoder {
  readonly #header: HeaderReader
  readonly #tools: ToolCounter
  readonly #splitter = new SseSplitter()
  readonly #events = new RepeatedJson(repeatedPieces)
  /** The candidates so far, and whether each has ended. */
  readonly #finished = new Map<number, boolean>()
  /** Without a prototype, because the vendor chooses the names of its members. */
  readonly #usage: Record<string, unknown> = Object.create(null)
  /** The latest repeated event, and its counts, until they have been read. */
  #counted: RepeatedFrame | undefined
  #counts: Repeated | undefined
  /** The usage of the latest event that has one. */
  #reported: ReportedUsage | undefined
  /** How many of the candidates have ended. */
  #progress: Frame['finished']
  /** The event from which the next ones may differ only in a piece of the text and in counts. */
  #piece: GeminiResponse | undefined

  constructor({ model, header }: Pick<AnswerContext, 'model' | 'header'>) {
    this.#header = header
    this.#tools = new ToolCounter(model.generation)
  }

  push(bytes: Uint8Array): Frame[] {
    return this.#readAll(this.#splitter.push(bytes))
  }

  end(): Frame[] {
    // A torn event is dropped: the client would read it as malformed JSON.
    const whole = this.#splitter
      .end()
      .filter(({ data }) => data !== undefined && tryParseJson(data) !== undefined)
      .map(closeEvent)
    return [...this.#readAll(whole), ...this.#finish()]
  }

  breakOff(): Frame[] {
    return this.#finish()
  }

  #readAll(events: readonly RawEvent[]): Frame[] {
    const frames: Frame[] = []
    for (const event of events) {
      const { data, bytes } = event
      const repeated = data && this.#piece ? this.#events.match(data) : undefined
      if (repeated) frames.push(this.#repeat(skipBlankLines(bytes), repeated))
      else frames.push(...this.#read(event))
    }
    this.#recount()
    return frames
  }

  #read({ data, bytes: given }: RawEvent): Frame[] {
    this.#recount()
    // Some proxies add the terminator of the OpenAI API, which no client of this API reads.
    if (data?.startsWith('[DONE]')) return this.#finish()
    const response = data ? this.#parse(data) : undefined
    if (response) return [this.#classify(skipBlankLines(given), response)]
    const value = tryParseJson(data ?? decoder.decode(given))
    const failure = parseFailure(value)
    if (failure) {
      const metadata = isObject(value) ? value['usageMetadata'] : undefined
      if (isObject(metadata)) {
        Object.assign(this.#usage, metadata)
        this.#piece = undefined
      }
      return this.#fail(failure)
    }
    return data ? this.#fail(malformed) : [createDroppedFrame(given)]
  }

  /** Parses an event that is not a repetition of `#piece`. */
  #parse(data: string): GeminiResponse | undefined {
    return this.#piece ? this.#events.learn(data) : this.#events.parse(data)
  }

  /** Reports a failure, unless the answer is complete: then it ends the stream normally. */
  #fail(failure: UpstreamFailure): Frame[] {
    const end = this.#finish()
    return end.length > 0 ? end : [createFailedFrame(failure, this.#parseUsage())]
  }

  /** Classifies an event that says only more of the text, as most events of a stream do. */
  #repeat(bytes: Uint8Array, repeated: Repeated): Frame {
    const { text } = repeated
    const frame: RepeatedFrame = {
      bytes,
      kind: 'content',
      usage: undefined,
      output: text,
      outputBytes: countUtf8Bytes(text),
      finished: this.#progress,
    }
    this.#counted = frame
    this.#counts = repeated
    return frame
  }

  /**
   * Reads the counts of the latest repeated event. Those of the repeated events before it in the same bytes are
   * running totals that no later stage needs.
   */
  #recount(): void {
    const frame = this.#counted
    if (!frame) return
    this.#counted = undefined
    if (!this.#piece?.usageMetadata) return
    Object.assign(this.#usage, this.#counts?.counts)
    const known = hasTokens(this.#reported) ? this.#reported : undefined
    frame.usage = (known && recountUsage(this.#usage, known)) ?? this.#parseUsage()
    this.#reported = frame.usage ?? this.#reported
  }

  #classify(bytes: Uint8Array, response: GeminiResponse): Frame {
    const candidates = listCandidates(response)
    const { usageMetadata } = response
    // Counts are running totals, and some appear in early events only: the last of each counts.
    if (isObject(usageMetadata)) Object.assign(this.#usage, usageMetadata)
    this.#tools.add(candidates)
    const usage = isObject(usageMetadata) ? this.#parseUsage() : undefined
    this.#reported = usage ?? this.#reported
    const failure = findFailedFinish(candidates)
    if (failure) return { ...createFailedFrame(failure, this.#parseUsage()), isBilled: true }
    let isContent = false
    for (const { index, finishReason, content } of candidates) {
      const isOver = Boolean(finishReason)
      this.#finished.set(index, isOver || (this.#finished.get(index) ?? false))
      isContent ||= isOver || (content?.parts ?? []).some(isShown)
    }
    this.#progress = this.#countFinished()
    this.#piece = isPiece(response) && this.#events.learned === response ? response : undefined
    const output = joinOutput(response)
    return {
      bytes,
      kind: isContent ? 'content' : 'quiet',
      usage,
      output: output === '' ? undefined : output,
      outputBytes: countUtf8Bytes(output),
      finished: this.#progress,
    }
  }

  #countFinished(): Frame['finished'] {
    const states = new Set(this.#finished.values())
    if (!states.has(true)) return undefined
    return states.has(false) ? 'some' : 'all'
  }

  #parseUsage(): ReportedUsage | undefined {
    if (Object.keys(this.#usage).length === 0) return undefined
    return parseUsage(this.#usage, {
      tier: readServedTier(this.#header),
      tools: this.#tools.counts,
    })
  }

  /** Returns the end of a complete stream; no frames when it is incomplete. A second call is harmless. */
  #finish(): Frame[] {
    return this.#progress === 'all' ? [{ bytes: noBytes, kind: 'done', outputBytes: 0 }] : []
  }
}

type RepeatedFrame = Omit<Frame, 'usage'> & { usage: ReportedUsage | undefined }

/** True for an event that has only text, and the counts so far. */
function isPiece({ candidates, usageMetadata }: GeminiResponse): boolean {
  const [only, ...others] = candidates ?? []
  if (!only || others.length > 0 || only.finishReason) return false
  return (
    !isObject(only.groundingMetadata) && (usageMetadata === undefined || isObject(usageMetadata))
  )
}

/** A part that says nothing does not commit a stream. */
function isShown({ text, ...others }: Readonly<Record<string, unknown>>): boolean {
  return Boolean(text) || Object.keys(others).some((name) => name !== 'thought')
}

/** Adds the blank line that the last event of a body may lack. */
function closeEvent(event: RawEvent): RawEvent {
  if (event.closed) return event
  const closed = new Uint8Array(event.bytes.length + 2).fill(lf)
  closed.set(event.bytes)
  return { ...event, bytes: closed, closed: true }
}

const lf = 0x0a

const malformed: UpstreamFailure = {
  kind: 'malformed',
  detail: 'a stream event is not a GenerateContentResponse',
}
