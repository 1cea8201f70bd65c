import type { UpstreamFailure } from '../core/failure.ts'
import type { Frame, RawChoice, StreamIdentity } from '../core/frame.ts'
import type { ReportedUsage } from '../core/usage.ts'
import { stringifyJson } from '../wire/json/raw.ts'
import { PairJoiner } from '../wire/surrogates.ts'
import { countUtf8Bytes } from '../wire/utf8.ts'
import { Slab } from './slab.ts'

const encoder = new TextEncoder()

/** The terminator of every complete stream. */
export const doneFrame: Frame = Object.freeze({
  bytes: encoder.encode('data: [DONE]\n\n'),
  kind: 'done',
  outputBytes: 0,
})

/** Makes the last frame of a failed stream. It has no bytes: the client gets a terminal frame instead. */
export function createFailedFrame(failure: UpstreamFailure, usage?: ReportedUsage): Frame {
  return { bytes: noBytes, kind: 'error', failure, usage, outputBytes: 0 }
}

export const noBytes: Uint8Array = new Uint8Array(0)

/**
 * Creates the frame of an event of a vendor without data, comments included, which the client does not get:
 * several SDKs parse the missing data as JSON. Heartbeats of the gateway take its place.
 */
export function createDroppedFrame({ length }: Uint8Array): Frame {
  return { bytes: noBytes, droppedBytes: length, kind: 'quiet', outputBytes: 0 }
}

/** Encodes one `data:` event with a JSON payload, blank line included. */
export function encodeDataEvent(payload: unknown): Uint8Array {
  return encoder.encode(`data: ${JSON.stringify(payload)}\n\n`)
}

/**
 * The choices of a usage chunk that the client did not request: a single empty choice, because some
 * clients read `choices[0]` of every chunk.
 */
export const unrequestedChoices: readonly object[] = Object.freeze([
  { index: 0, delta: {}, finish_reason: null },
])

/** The same for the API of text completions. */
export const unrequestedTexts: readonly object[] = Object.freeze([
  { index: 0, text: '', logprobs: null, finish_reason: null },
])

/** The finish reasons of the OpenAI API. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/** Members of a choice that the OpenAI API does not have. */
export type ChoiceExtra = Readonly<Record<string, unknown>>

/** The first piece of a tool call. */
export interface ToolCallStart {
  /** Its position among the calls of the message, from 0. */
  readonly index: number
  readonly id: string
  readonly name: string
  /** Further members of the call that must survive a round trip. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Writes the chunks of a translated stream. A chunk with the role precedes the first content, in the
 * same frame. Only the first chunk of a tool call has its id, name and type, because clients
 * concatenate the values of all chunks. A character that the vendor cuts in half is sent whole.
 */
export class ChunkWriter {
  readonly #identity: StreamIdentity
  readonly #index: number
  readonly #slab = new Slab()
  readonly #head: string
  #started = false
  /** Undefined as long as no character was cut. */
  #pairs: PairJoiner | undefined

  constructor(identity: StreamIdentity, index = 0) {
    this.#identity = identity
    this.#index = index
    this.#head = renderChunkHead(identity, index)
  }

  /** Whether a chunk has been written. */
  get hasStarted(): boolean {
    return this.#started
  }

  /** Returns a writer for another choice of the same stream. */
  forChoice(index: number): ChunkWriter {
    return new ChunkWriter(this.#identity, index)
  }

  /** Writes only the role's chunk, for an answer that has begun without text. It commits the stream. */
  role(): Frame {
    return this.#content('', noDelta, '')
  }

  /** Writes text. `logprobs` are those of its tokens, in the shape of the OpenAI API. */
  text(piece: string, logprobs?: unknown): Frame {
    const content = this.#join('content', piece)
    return this.#delta({ content }, content, logprobs)
  }

  reasoning(piece: string): Frame {
    const text = this.#join('reasoning_content', piece)
    return this.#delta({ reasoning_content: text }, text)
  }

  /**
   * Writes the signed blocks of earlier reasoning. They have no new content and do not commit a stream. SDKs
   * keep only the last list of a message, so a list has a whole run of blocks; writers of other APIs get
   * each block from `thinkingBlock`.
   */
  thinking(blocks: readonly object[]): Frame {
    const chunk = this.#delta({ thinking_blocks: blocks }, '')
    return { ...chunk, kind: 'quiet', choices: undefined }
  }

  /** Returns a signed block for writers of other APIs, as soon as it has ended. It has no bytes. */
  thinkingBlock(block: object): Frame {
    const choices = [{ index: this.#index, delta: { thinking_blocks: [block] } }]
    return { bytes: noBytes, kind: 'quiet', choices, outputBytes: 0 }
  }

  /**
   * Writes the vendor's own blocks of the whole answer, with `RawJson` in them. They have no new content and
   * do not commit a stream.
   */
  providerContent(content: object): Frame {
    const delta = { provider_content: content }
    return {
      bytes: this.#encode(`${this.#head}${stringifyJson(delta)}${chunkTail}`),
      kind: 'quiet',
      identity: this.#identity,
      choices: [{ index: this.#index, delta }],
      outputBytes: 0,
    }
  }

  refusal(piece: string): Frame {
    const text = this.#join('refusal', piece)
    return this.#delta({ refusal: text }, text)
  }

  toolCall({ index, id, name, extra }: ToolCallStart): Frame {
    const call = { index, id, type: 'function', function: { name, arguments: '' }, ...extra }
    return this.#delta({ tool_calls: [call] }, name)
  }

  /** Writes the next piece of a call's arguments. */
  toolArguments(index: number, piece: string): Frame {
    const text = this.#join(index, piece)
    return this.#delta(toArguments(index, text), text)
  }

  /** Writes a delta that the OpenAI API does not have. `text` is the generated text in it. */
  delta(delta: Readonly<Record<string, unknown>>, text = ''): Frame {
    return this.#delta(delta, text)
  }

  /** Writes the end of the choice and of the stream: finish reason, reported usage and `[DONE]`. */
  finish(reason: FinishReason, usage: ReportedUsage | undefined, extra: ChoiceExtra = {}): Frame[] {
    return [{ ...this.finishChoice(reason, extra), usage, hasUnsentUsage: true }, doneFrame]
  }

  /**
   * Writes the end of one choice, for a stream with other choices. `extra` holds further members of the
   * choice.
   */
  finishChoice(reason: FinishReason, extra: ChoiceExtra = {}): Frame {
    const rest = this.#pairs?.takePlaces().map(toReplacement) ?? []
    const before = rest.map((delta) => this.#render(delta)).join('')
    const own = JSON.stringify(extra).slice(1, -1)
    const ofChoice = own === '' ? '' : `,${own}`
    return {
      bytes: this.#encode(`${before}${this.#head}{},"finish_reason":"${reason}"${ofChoice}}]}\n\n`),
      kind: 'content',
      identity: this.#identity,
      choices: [
        ...rest.map((delta) => ({ index: this.#index, delta })),
        { index: this.#index, delta: noDelta, finish_reason: reason, ...extra },
      ],
      outputBytes: 0,
      finished: 'all',
      isFiltered: reason === 'content_filter',
    }
  }

  #delta(delta: object, text: string, logprobs?: unknown): Frame {
    return this.#content(this.#render(delta, logprobs), delta, text)
  }

  #render(delta: object, logprobs?: unknown): string {
    const ofText = logprobs === undefined ? '' : `,"logprobs":${JSON.stringify(logprobs)}`
    return `${this.#head}${JSON.stringify(delta)}${ofText}${chunkTail}`
  }

  /** Returns what a piece adds in whole characters to a member of the message, or to the call of an index. */
  #join(place: string | number, piece: string): string {
    if (this.#pairs === undefined && piece.isWellFormed()) return piece
    this.#pairs ??= new PairJoiner()
    return this.#pairs.join(String(place), piece)
  }

  #content(chunk: string, delta: object, text: string): Frame {
    const choice: RawChoice = { index: this.#index, delta }
    return {
      bytes: this.#encode(chunk),
      kind: 'content',
      identity: this.#identity,
      choices: [choice],
      output: text,
      outputBytes: countUtf8Bytes(text),
    }
  }

  /** Encodes a chunk. The role's chunk precedes the first one. */
  #encode(chunk: string): Uint8Array {
    if (this.#started) return this.#slab.encode(chunk)
    this.#started = true
    const role = `${this.#head}{"role":"assistant","content":""}${chunkTail}`
    return this.#slab.encode(role + chunk)
  }
}

const noDelta = Object.freeze({})

function toArguments(index: number, text: string): object {
  return { tool_calls: [{ index, function: { arguments: text } }] }
}

/** Returns the delta for a half whose other half did not come. */
function toReplacement(place: string): object {
  return /^\d/.test(place) ? toArguments(Number(place), '\ufffd') : { [place]: '\ufffd' }
}

/** Renders a chunk up to its delta. All chunks of a choice begin with it, so it is rendered once. */
function renderChunkHead({ id, created, model }: StreamIdentity, index: number): string {
  const chunk = { id, object: 'chat.completion.chunk', created, model, choices: [{ index }] }
  return `data: ${JSON.stringify(chunk).slice(0, -'}]}'.length)},"delta":`
}

/** The text after the delta, in all chunks but the last. */
const chunkTail = ',"finish_reason":null}]}\n\n'
