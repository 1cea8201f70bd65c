import type { UpstreamFailure } from '../core/failure.ts'
import type { Frame, StreamIdentity } from '../core/frame.ts'
import { type ReportedUsage, renderUsage, type Usage } from '../core/usage.ts'
import { countUtf8Bytes } from '../wire/utf8.ts'
import { Slab } from './slab.ts'

const encoder = new TextEncoder()

/** The terminator of every complete stream. */
export const doneFrame: Frame = Object.freeze({
  bytes: encoder.encode('data: [DONE]\n\n'),
  kind: 'done',
  outputBytes: 0,
})

/** The end of a stream that has failed. It has no bytes: the client gets a terminal frame instead. */
export function createFailedFrame(failure: UpstreamFailure, usage?: ReportedUsage): Frame {
  return { bytes: noBytes, kind: 'error', failure, usage, outputBytes: 0 }
}

export const noBytes: Uint8Array = new Uint8Array(0)

/** One `data:` event with a JSON payload, blank line included. */
export function encodeDataEvent(payload: unknown): Uint8Array {
  return encoder.encode(`data: ${JSON.stringify(payload)}\n\n`)
}

export interface UsageChunk {
  readonly identity: StreamIdentity
  readonly usage: Usage
  /** The client asked for a usage chunk, which has no choices. */
  readonly isRequested: boolean
}

/** A chunk that carries usage and nothing else, for a stream whose upstream sent no such chunk. */
export function createUsageChunk({ identity, usage, isRequested: asked }: UsageChunk): Frame {
  const bytes = encodeDataEvent({
    id: identity.id,
    object: 'chat.completion.chunk',
    created: identity.created,
    model: identity.model,
    choices: asked ? [] : unrequestedChoices,
    usage: renderUsage(usage),
  })
  return { bytes, kind: 'quiet', usage, outputBytes: 0 }
}

/**
 * The choices of a usage chunk for a client that did not ask for one: a single empty choice, because
 * code in the wild reads `choices[0]` of every chunk.
 */
export const unrequestedChoices: readonly object[] = Object.freeze([
  { index: 0, delta: {}, finish_reason: null },
])

/** How a choice ends, in the words of the OpenAI API. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter'

/** Members of a choice that the OpenAI API does not have. */
export type ChoiceExtra = Readonly<Record<string, unknown>>

/** One tool call as it opens. */
export interface ToolCallStart {
  /** Its position among the calls of the message, from 0. */
  readonly index: number
  readonly id: string
  readonly name: string
  /** Further members of the call that must survive a round trip. */
  readonly extra?: Readonly<Record<string, unknown>> | undefined
}

/**
 * Writes the chunks of a translated stream. A chunk with the role goes ahead of the first content,
 * together with it; ids, names and types of tool calls stand only where a call opens, because
 * clients add up what they get.
 */
export class ChunkWriter {
  readonly #identity: StreamIdentity
  readonly #slab = new Slab()
  #head: string
  #started = false

  constructor(identity: StreamIdentity) {
    this.#identity = identity
    this.#head = renderChunkHead(identity, 0)
  }

  /** A writer of another choice of the same stream. */
  forChoice(index: number): ChunkWriter {
    const other = new ChunkWriter(this.#identity)
    other.#head = renderChunkHead(this.#identity, index)
    return other
  }

  /** The role's chunk alone: an answer that has begun, and commits its stream, without a word yet. */
  role(): Frame {
    return this.#content('', '')
  }

  /** `logprobs`: those of the tokens of this text, in the shape of the OpenAI API. */
  text(content: string, logprobs?: unknown): Frame {
    return this.#delta({ content }, content, logprobs)
  }

  reasoning(text: string): Frame {
    return this.#delta({ reasoning_content: text }, text)
  }

  /** Blocks that prove the reasoning before them. They say nothing new, so they commit no stream. */
  thinking(blocks: readonly object[]): Frame {
    return { ...this.#delta({ thinking_blocks: blocks }, ''), kind: 'quiet' }
  }

  refusal(text: string): Frame {
    return this.#delta({ refusal: text }, text)
  }

  toolCall({ index, id, name, extra }: ToolCallStart): Frame {
    const call = { index, id, type: 'function', function: { name, arguments: '' }, ...extra }
    return this.#delta({ tool_calls: [call] }, name)
  }

  /** A further piece of the arguments of an open call. */
  toolArguments(index: number, piece: string): Frame {
    return this.#delta({ tool_calls: [{ index, function: { arguments: piece } }] }, piece)
  }

  /** A delta of the kind's own, for what has no name in the OpenAI API; `text` is what it generates. */
  delta(delta: Readonly<Record<string, unknown>>, text = ''): Frame {
    return this.#delta(delta, text)
  }

  /** The end of the choice and of the stream: finish reason, `[DONE]`, and the usage to be judged. */
  finish(reason: FinishReason, usage: ReportedUsage | undefined, extra: ChoiceExtra = {}): Frame[] {
    return [{ ...this.finishChoice(reason, extra), usage, hasUnsentUsage: true }, doneFrame]
  }

  /**
   * The end of a choice alone, for a stream in which others are still to end. `extra` holds further
   * members of the choice.
   */
  finishChoice(reason: FinishReason, extra: ChoiceExtra = {}): Frame {
    const own = JSON.stringify(extra).slice(1, -1)
    const ofChoice = own === '' ? '' : `,${own}`
    return {
      bytes: this.#encode(`${this.#head}{},"finish_reason":"${reason}"${ofChoice}}]}\n\n`),
      kind: 'content',
      identity: this.#identity,
      outputBytes: 0,
      finished: 'all',
    }
  }

  #delta(delta: object, text: string, logprobs?: unknown): Frame {
    const ofText = logprobs === undefined ? '' : `,"logprobs":${JSON.stringify(logprobs)}`
    return this.#content(`${this.#head}${JSON.stringify(delta)}${ofText}${chunkTail}`, text)
  }

  #content(chunk: string, text: string): Frame {
    return {
      bytes: this.#encode(chunk),
      kind: 'content',
      identity: this.#identity,
      output: text,
      outputBytes: countUtf8Bytes(text),
    }
  }

  /** The bytes of a chunk, with the role's chunk ahead of those of the first one. */
  #encode(chunk: string): Uint8Array {
    if (this.#started) return this.#slab.encode(chunk)
    this.#started = true
    const role = `${this.#head}{"role":"assistant","content":""}${chunkTail}`
    return this.#slab.encode(role + chunk)
  }
}

/** A chunk up to its delta: all chunks of a choice begin with it, so it is written only once. */
function renderChunkHead({ id, created, model }: StreamIdentity, index: number): string {
  const chunk = { id, object: 'chat.completion.chunk', created, model, choices: [{ index }] }
  return `data: ${JSON.stringify(chunk).slice(0, -'}]}'.length)},"delta":`
}

/** What follows the delta in all of them but the last. */
const chunkTail = ',"finish_reason":null}]}\n\n'
