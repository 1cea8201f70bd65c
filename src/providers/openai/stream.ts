import type { StatedCostReader } from '../../core/billing.ts'
import type { ChunkIdentity, Frame, FrameDecoder, RawChoice } from '../../core/frame.ts'
import type { StreamUsage } from '../../core/provider-kind.ts'
import type { ReportedUsage } from '../../core/usage.ts'
import { createDroppedFrame, encodeDataEvent, noBytes } from '../../stream/chunk-writer.ts'
import {
  eventLimits,
  isObject,
  passedEventLimits,
  tryParseEvent,
  tryParseJson,
} from '../../wire/json/parse.ts'
import { JsonPattern } from '../../wire/json/pattern.ts'
import { type RawEvent, SseSplitter, skipBlankLines } from '../../wire/sse.ts'
import { countUtf8Bytes } from '../../wire/utf8.ts'
import { isHiddenError, toFrameFailure } from '../base/hidden-error.ts'
import type { ChoiceReader } from '../profiles/index.ts'
import { listChoices } from './call-arguments.ts'
import { findFailedChoice } from './failed-choice.ts'
import { closeLastEvent } from './last-event.ts'
import { ServedTier } from './served-tier.ts'
import { readAnswerUsage, readUsage } from './usage.ts'

/** How the chunks of one API hold what was generated. */
export interface ChunkForm {
  /** Returns the generated text of a choice; undefined when the choice has no content. */
  readonly readContent: (choice: RawChoice) => string | undefined
  /** The choices of a usage chunk that the client did not request. */
  readonly unrequested: readonly object[]
  /** Reads what the vendor charges, where the configuration says how. */
  readonly readCost?: StatedCostReader | undefined
}

export interface OpenAiStreamOptions {
  readonly form: ChunkForm
  /** Whether the gateway asked for a usage chunk, and whether the client sees it. */
  readonly usage: StreamUsage
  /** Reads the choices, where the client's stream is written from them and not from the bytes. */
  readonly reader?: ChoiceReader | undefined
}

/** Creates the decoder of a stream of OpenAI-shaped chunks, whose bytes the frames have unchanged. */
export function createOpenAiDecoder(options: OpenAiStreamOptions): FrameDecoder {
  const splitter = new SseSplitter()
  const reader = new ChunkReader(options)
  return {
    push: (bytes) => splitter.push(bytes).map((event) => reader.read(event)),
    end: () => [
      ...splitter.end().flatMap((event) => closeLastEvent(event).map((last) => reader.read(last))),
      ...reader.finish(),
    ],
    breakOff: () => reader.finish(),
  }
}

const nothing: Frame = Object.freeze({ bytes: noBytes, kind: 'quiet', outputBytes: 0 })

class ChunkReader {
  readonly #options: OpenAiStreamOptions
  readonly #endings = new ChoiceEndings()
  readonly #pattern: JsonPattern
  readonly #served = new ServedTier()
  #hasUsage = false
  /** The identity of the chunks like the learned one. */
  #identity: ChunkIdentity | undefined
  /** The choice of those chunks, without its text. */
  #repeated: RepeatedChoice | undefined
  /** The end of an answer that has failed, while its usage may follow. */
  #failed: Frame | undefined

  constructor(options: OpenAiStreamOptions) {
    this.#options = options
    this.#pattern = new JsonPattern({
      readText: (json) => {
        const chunk = tryParseJson(json)
        return isObject(chunk) ? readPlainText(chunk, options.form) : undefined
      },
      varying: ['obfuscation'],
    })
  }

  read({ bytes: given, data, event }: RawEvent): Frame {
    if (data === undefined) return createDroppedFrame(given)
    const bytes = skipBlankLines(given)
    if (this.#failed) return this.#awaitUsage(this.#failed, { bytes, data })
    if (data.startsWith('[DONE]')) return { bytes, kind: 'done', outputBytes: 0 }
    const repeated = event === 'error' ? undefined : this.#pattern.match(data)
    if (repeated?.text) return this.#toRepeatedFrame(bytes, repeated.text)
    const chunk = tryParseEvent(data, this.#options.reader ? eventLimits : passedEventLimits)
    const quiet: Frame = { bytes, kind: 'quiet', outputBytes: 0 }
    if (!isObject(chunk)) {
      if (event === 'error') return { ...quiet, kind: 'error', failure: toFrameFailure(data) }
      return data.trim() === '' ? createDroppedFrame(bytes) : quiet
    }
    if (isErrorChunk(chunk, event)) {
      const failure = toFrameFailure(chunk)
      return { ...quiet, kind: 'error', failure, usage: this.#readUsage(chunk), isBilled: true }
    }
    const choices = Array.isArray(chunk['choices']) ? chunk['choices'] : []
    const failed = findFailedChoice(choices)
    if (failed) {
      const end: Frame = { ...quiet, kind: 'error', failure: failed, isBilled: true }
      return this.#fail(end, this.#readUsage(chunk))
    }
    const frame = this.#toFrame({ bytes, data }, chunk, choices)
    const likeness = this.#options.reader && findRepeated(choices, frame.output)
    const mayRepeat = (!this.#options.reader || likeness) && frame.output
    if (mayRepeat && this.#pattern.learn(data, frame.output)) {
      this.#identity = frame.identity
      this.#repeated = likeness
    }
    return frame
  }

  /** Returns what is left at the end of the body: the end of an answer that has failed. */
  finish(): Frame[] {
    const failed = this.#failed
    this.#failed = undefined
    return failed ? [failed] : []
  }

  /** An answer that fails is billed, and its usage comes in a chunk of its own, as that of any other. */
  #fail(frame: Frame, usage: ReportedUsage | undefined): Frame {
    if (usage) return { ...frame, usage }
    this.#failed = frame
    return nothing
  }

  #awaitUsage(
    failed: Frame,
    { bytes, data }: { readonly bytes: Uint8Array; readonly data: string },
  ): Frame {
    const chunk = tryParseJson(data)
    const usage = isObject(chunk) ? this.#readUsage(chunk) : undefined
    const isLast = data.startsWith('[DONE]') || (isObject(chunk) && isErrorChunk(chunk, undefined))
    if (!usage && !isLast) return createDroppedFrame(bytes)
    this.#failed = undefined
    return { ...failed, usage }
  }

  #readUsage(chunk: Record<string, unknown>): ReportedUsage | undefined {
    return readChunkUsage(this.#served.addTo(chunk), this.#options.form)
  }

  /** The facts of a chunk that differs from the learned one only in its text. */
  #toRepeatedFrame(bytes: Uint8Array, output: string): Frame {
    const { reader } = this.#options
    return {
      bytes,
      kind: 'content',
      usage: undefined,
      identity: this.#identity,
      choices: reader && this.#repeated && [reader.read(this.#repeated.withText(output))],
      output,
      outputBytes: countUtf8Bytes(output),
      finished: this.#endings.state,
      isFiltered: false,
    }
  }

  #toFrame(
    { bytes, data }: { readonly bytes: Uint8Array; readonly data: string },
    chunk: Record<string, unknown>,
    choices: readonly unknown[],
  ): Frame {
    const { form, reader } = this.#options
    // A stream may end without usage, and was served at the tier all the same.
    const tier = this.#served.report(chunk)
    const usage = readChunkUsage(this.#served.addTo(chunk), form)
    const facts = usage ?? (this.#hasUsage ? undefined : tier)
    this.#hasUsage ||= usage !== undefined
    let content = false
    let output = ''
    let isFiltered = false
    for (const choice of choices) {
      if (!isObject(choice)) continue
      const isEnd = typeof choice['finish_reason'] === 'string'
      this.#endings.note(choice['index'], isEnd)
      if (isEnd) content = true
      if (choice['finish_reason'] === 'content_filter') isFiltered = true
      const text = form.readContent(choice)
      if (text === undefined) continue
      content = true
      output += text
    }
    const isExtra = choices.length === 0 && isObject(chunk['usage'])
    return {
      bytes: isExtra ? this.#rewriteUsageChunk(bytes, chunk) : bytes,
      kind: content ? 'content' : 'quiet',
      usage: facts,
      identity: readChunkIdentity(chunk),
      choices: reader && listChoices(choices, data).map((choice) => reader.read(choice)),
      output,
      outputBytes: countUtf8Bytes(output),
      finished: this.#endings.state,
      isFiltered: isFiltered && output === '',
    }
  }

  /** Returns what the client gets for a chunk that has only usage. */
  #rewriteUsageChunk(bytes: Uint8Array, chunk: Record<string, unknown>): Uint8Array {
    const { usage, form } = this.#options
    switch (usage) {
      case 'not-asked':
        return bytes
      case 'shown':
        return encodeDataEvent({ ...chunk, choices: form.unrequested })
      case 'hidden':
        return noBytes
      default:
        return usage satisfies never
    }
  }
}

/** A choice whose like differ from it only in their text. */
interface RepeatedChoice {
  withText(text: string): RawChoice
}

/** Finds what repeats in the only choice of a chunk; undefined where something besides its text may matter. */
function findRepeated(
  choices: readonly unknown[],
  text: string | undefined,
): RepeatedChoice | undefined {
  const [choice] = choices
  if (choices.length !== 1 || !isObject(choice) || typeof choice['finish_reason'] === 'string')
    return undefined
  const { index, delta } = choice
  if (!isObject(delta) || text === undefined) return undefined
  const texts = Object.entries(delta).filter(
    ([, value]) => typeof value === 'string' && value !== '',
  )
  const others = texts.filter(([name]) => name !== 'role')
  const [name] = others[0] ?? []
  const isPlain = Object.values(delta).every((value) => typeof value !== 'object' || value === null)
  if (others.length !== 1 || name === undefined || delta[name] !== text || !isPlain)
    return undefined
  return { withText: (next) => ({ index, delta: { [name]: next }, finish_reason: null }) }
}

/** Returns the text of a chunk of one choice, without usage: its other facts are those of its like. */
function readPlainText(chunk: Record<string, unknown>, form: ChunkForm): string | undefined {
  const { choices } = chunk
  if (!Array.isArray(choices) || choices.length !== 1) return undefined
  if (isErrorChunk(chunk, undefined) || readChunkUsage(chunk, form)) return undefined
  const [choice] = choices
  return isObject(choice) ? form.readContent(choice) : undefined
}

/** More choices than any vendor generates. Bounds the array, because the index comes from the upstream. */
const maxChoices = 1024

/** Tracks which choices of a stream have begun and which have ended. */
class ChoiceEndings {
  readonly #ended: boolean[] = []
  state: Frame['finished']

  note(index: unknown, isEnd: boolean): void {
    const known = typeof index === 'number' && index >= 0 && index < maxChoices
    const at = known ? Math.floor(index) : 0
    const before = this.#ended[at]
    if (before === true || before === isEnd) return
    this.#ended[at] = isEnd
    const begun = Object.values(this.#ended)
    if (begun.includes(true)) this.state = begun.includes(false) ? 'some' : 'all'
  }
}

function readChunkUsage(
  chunk: Readonly<Record<string, unknown>>,
  { readCost }: ChunkForm,
): ReportedUsage | undefined {
  const usage = readAnswerUsage(chunk, readCost)
  if (usage !== undefined || isObject(chunk['usage'])) return usage
  const groq = chunk['x_groq']
  return isObject(groq)
    ? readUsage(groq['usage'], chunk['service_tier'], readCost && { answer: chunk, readCost })
    : undefined
}

/** Azure's first chunk has an empty `id`, an empty `model` and `created` 0. */
function readChunkIdentity({ id, created, model }: Record<string, unknown>): ChunkIdentity {
  return {
    id: typeof id === 'string' && id !== '' ? id : undefined,
    created: typeof created === 'number' && created > 0 ? created : undefined,
    model: typeof model === 'string' && model !== '' ? model : undefined,
  }
}

function isErrorChunk(chunk: Record<string, unknown>, event: string | undefined): boolean {
  if (event === 'error' || chunk['object'] === 'error') return true
  return isHiddenError(chunk, chunk['choices'])
}
