import type { GatewayError } from '../../core/errors.ts'
import type { Frame, RawChoice } from '../../core/frame.ts'
import type { WriterContext } from '../../data-plane/index.ts'
import { noBytes } from '../../stream/chunk-writer.ts'
import { Slab } from '../../stream/slab.ts'
import type { FinalUsage, StreamWriter } from '../../stream/stream-writer.ts'
import { isObject } from '../../wire/json/parse.ts'
import { stringifyJson } from '../../wire/json/raw.ts'
import { readChoice } from '../choice.ts'
import type { AnswerShape } from './address.ts'
import { ChunkFraming } from './chunks.ts'
import { renderGeminiError } from './error.ts'
import { newResponseId } from './ids.ts'
import { LogprobSum, readLogprobs } from './logprobs.ts'
import { CandidateParts, listImageParts } from './parts.ts'
import { renderUsageMetadata } from './usage.ts'

export interface StreamOptions {
  readonly shape: AnswerShape
  /** The client has asked to see thoughts. */
  readonly showsThoughts: boolean
}

/** Writes the stream of another API as chunks. The reasons to end and the usage are in the last one. */
export class GeminiStreamWriter implements StreamWriter {
  readonly cutsFailures = true
  readonly #context: WriterContext
  readonly #showsThoughts: boolean
  readonly #framing: ChunkFraming
  readonly #slab = new Slab()
  readonly #id = newResponseId()
  readonly #candidates = new Map<number, CandidateParts>()
  /** What is before and after the text in a chunk that has nothing else. */
  #around: readonly [string, string] | undefined
  readonly #logprobs = new Map<number, LogprobSum>()

  constructor(context: WriterContext, { shape, showsThoughts }: StreamOptions) {
    this.#context = context
    this.#showsThoughts = showsThoughts
    this.#framing = new ChunkFraming(shape)
  }

  write({ choices }: Frame): Uint8Array {
    const text = choices && readPiece(choices)
    if (text && this.#isWhole(text)) return this.#slab.encode(this.#framePiece(text))
    const candidates = (choices ?? []).flatMap((choice) => this.#read(choice))
    return candidates.length === 0 ? noBytes : this.#encode({ candidates })
  }

  ping(): Uint8Array {
    return this.#slab.encode(this.#framing.ping)
  }

  complete(_: Frame, { usage }: FinalUsage): Uint8Array {
    if (this.#candidates.size === 0) this.#find(0)
    const candidates = [...this.#candidates].map(([index, candidate]) => ({
      content: { parts: candidate.finish(''), role: 'model' },
      finishReason: candidate.finishReason,
      index,
      ...candidate.grounding,
      ...this.#logprobs.get(index)?.member,
    }))
    const last = this.#frame({ candidates, usageMetadata: renderUsageMetadata(usage) })
    return this.#slab.encode(last + this.#framing.end)
  }

  fail(error: GatewayError): Uint8Array {
    return this.#slab.encode(
      this.#framing.frame(JSON.stringify(renderGeminiError(error, this.#context.requestId))),
    )
  }

  /** Returns the candidate of a choice, if it has something to show already. */
  #read(choice: RawChoice): readonly object[] {
    const { index: given } = choice
    const index = typeof given === 'number' ? given : 0
    const candidate = this.#find(index)
    const content = candidate.characters.read(readChoice(choice))
    candidate.add(content)
    const { reasoning, text, refusal } = content
    const parts = [
      ...(this.#showsThoughts && reasoning !== '' ? [{ text: reasoning, thought: true }] : []),
      ...(text === '' ? [] : [{ text }]),
      ...(refusal === '' ? [] : [{ text: refusal }]),
      ...listImageParts(choice),
    ]
    const logprobsResult = readLogprobs(choice)
    if (!logprobsResult)
      return parts.length === 0 ? [] : [{ content: { parts, role: 'model' }, index }]
    const sum = this.#logprobs.get(index) ?? new LogprobSum()
    this.#logprobs.set(index, sum)
    sum.add(logprobsResult)
    return [{ content: { parts, role: 'model' }, index, logprobsResult }]
  }

  /** True for a piece that neither begins nor ends inside of a character. */
  #isWhole(text: string): boolean {
    return this.#find(0).characters.isEmpty && text.isWellFormed()
  }

  /** Frames a chunk with a piece of the text, which most chunks are. */
  #framePiece(text: string): string {
    this.#around ??= [
      '{"candidates":[{"content":{"parts":[{"text":',
      `}],"role":"model"},"index":0}],"modelVersion":${JSON.stringify(this.#context.model)},"responseId":"${this.#id}"}`,
    ]
    const [before, after] = this.#around
    return this.#framing.frame(before + JSON.stringify(text) + after)
  }

  #find(index: number): CandidateParts {
    const known = this.#candidates.get(index)
    if (known) return known
    const candidate = new CandidateParts(this.#context.model)
    this.#candidates.set(index, candidate)
    return candidate
  }

  #encode(chunk: object): Uint8Array {
    return this.#slab.encode(this.#frame(chunk))
  }

  #frame(chunk: object): string {
    const whole = { ...chunk, modelVersion: this.#context.model, responseId: this.#id }
    return this.#framing.frame(stringifyJson(whole))
  }
}

/** Returns the text of the first choice where a chunk has nothing else to say. */
function readPiece(choices: readonly RawChoice[]): string | undefined {
  const [choice] = choices
  if (choices.length !== 1 || !choice) return undefined
  const { index, delta, finish_reason: reason, logprobs } = choice
  if ((index ?? 0) !== 0 || reason || logprobs || !isObject(delta)) return undefined
  const { content } = delta
  if (typeof content !== 'string') return undefined
  for (const name in delta) if (name !== 'content' && delta[name] !== null) return undefined
  return content
}
