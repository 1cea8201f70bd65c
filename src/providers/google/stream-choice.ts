import type { Frame } from '../../core/frame.ts'
import type { ChunkWriter, FinishReason } from '../../stream/chunk-writer.ts'
import type { ToolNames } from '../../wire/tool-names.ts'
import { addIndexes } from '../canonical/annotations.ts'
import { toOpenAiLogprobs } from './answer.ts'
import { audioMetadata, findAudio, toOpenAiImage } from './answer-media.ts'
import { PartialArguments } from './arguments.ts'
import { isPlainText } from './content.ts'
import { isUnspecified, mapFinishReason, nativeFinishFields } from './finish-reason.ts'
import { hasSources } from './grounding.ts'
import type { GeminiCall, GeminiPart, IndexedCandidate, PartReader } from './response.ts'
import { signatureFields, textSignature } from './signatures.ts'
import { StreamedContent } from './stream-content.ts'
import { toOpenAiToolCall } from './tools.ts'

export interface StreamChoiceOptions {
  readonly index: number
  readonly writer: ChunkWriter
  /** Start of the stream, in Unix seconds. */
  readonly created: number
  /** The names of the tools of the request. */
  readonly names: ToolNames
}

/** Translates one candidate of a stream: parts in, chunks out. */
export class StreamChoice {
  readonly index: number
  readonly writer: ChunkWriter
  readonly #created: number
  readonly #names: ToolNames
  readonly #content = new StreamedContent()
  #hasStarted = false
  #hasAudio = false
  /** Number of images so far. Some clients merge the items of a list by `index`. */
  #imageCount = 0
  #callCount = 0
  /** The call whose streamed arguments are incomplete. */
  #openCall: OpenCall | undefined
  /**
   * The latest signature of the text. It is sent once, because clients concatenate repeated
   * strings.
   */
  #signature: string | undefined
  /** The latest finish reason; parts may still follow it. */
  #finish: Pick<IndexedCandidate, 'finishReason' | 'finishMessage'> | undefined

  constructor({ index, writer, created, names }: StreamChoiceOptions) {
    this.index = index
    this.writer = writer
    this.#created = created
    this.#names = names
  }

  get isFinished(): boolean {
    return this.#finish !== undefined
  }

  get finishReason(): FinishReason {
    return mapFinishReason(this.#finish?.finishReason, this.#callCount > 0)
  }

  /** Further fields of the chunk that ends the choice. */
  get extra(): Readonly<Record<string, string>> {
    return nativeFinishFields(this.#finish ?? {})
  }

  translate(candidate: IndexedCandidate, readPart: PartReader): Frame[] {
    const { content, finishReason, finishMessage, logprobsResult: tokens, refusal } = candidate
    const parts = content?.parts ?? []
    const firstText = parts.find(({ text, thought }) => text && !thought)
    const frames: Frame[] = []
    parts.forEach((part, at) => {
      const logprobs = part === firstText && tokens ? toOpenAiLogprobs(tokens) : undefined
      frames.push(...this.#write(part, logprobs))
      if (isPlainText(part)) this.#content.addText(part)
      else if (!this.#isInPieces(part)) {
        this.#content.add(part, () => readPart(candidate.position, at))
      }
    })
    if (hasSources(candidate)) this.#content.report(candidate)
    // The service wrote the refusal, not the model.
    if (refusal !== undefined) frames.push(this.writer.delta({ refusal }))
    if (finishReason && !isUnspecified(finishReason)) {
      this.#finish = { finishReason, finishMessage }
      // A finish reason alone is an answer too: it commits the stream, so no fallback replaces it.
      if (!this.#hasStarted && frames.length === 0) frames.push(this.writer.role())
    }
    if (frames.length > 0) this.#hasStarted = true
    return frames
  }

  /** The remaining frames before the chunk that ends the choice. */
  *flush(): Generator<Frame> {
    yield* this.#closeCall()
    const signature = signatureFields(this.#signature)
    this.#signature = undefined
    if (signature.extra_content) yield this.writer.delta({ ...signature })
    const annotations = this.#content.listAnnotations()
    if (annotations.length > 0) {
      yield this.writer.delta({ annotations: addIndexes(annotations, 0) })
    }
    const content = this.#content.finish()
    if (content) yield this.writer.providerContent(content)
  }

  /** True for a call whose arguments come in pieces; the call is added when it has ended. */
  #isInPieces({ functionCall: call }: GeminiPart): boolean {
    return call ? !call.name || Boolean(call.willContinue || call.partialArgs) : false
  }

  #write(part: GeminiPart, logprobs: object | undefined): Frame[] {
    const { functionCall, text, thought } = part
    if (functionCall) return this.#writeCall(functionCall, part)
    if (!thought) this.#signature = textSignature(part) ?? this.#signature
    if (text) return [thought ? this.writer.reasoning(text) : this.writer.text(text, logprobs)]
    const image = toOpenAiImage(part)
    if (image) return [this.writer.delta({ images: [{ index: this.#imageCount++, ...image }] })]
    return findAudio([part]).map(({ mimeType, base64: data }) => {
      const head = this.#hasAudio ? {} : audioMetadata(mimeType, this.#created)
      this.#hasAudio = true
      return this.writer.delta({ audio: { ...head, data } })
    })
  }

  /** A call without a name continues the open call. */
  #writeCall(call: GeminiCall, part: GeminiPart): Frame[] {
    const frames: Frame[] = []
    if (call.name || !this.#openCall) {
      frames.push(...this.#closeCall())
      const {
        id,
        type: _,
        function: made,
        ...extra
      } = toOpenAiToolCall(call, { thoughtSignature: part.thoughtSignature, names: this.#names })
      const index = this.#callCount++
      frames.push(this.writer.toolCall({ index, id, name: made.name, extra }))
      if (!call.willContinue && !call.partialArgs) {
        frames.push(this.writer.toolArguments(index, made.arguments))
        return frames
      }
      this.#openCall = { index, part, pieces: new PartialArguments() }
    }
    for (const piece of call.partialArgs ?? []) this.#openCall?.pieces.add(piece)
    return call.willContinue ? frames : [...frames, ...this.#closeCall()]
  }

  #closeCall(): Frame[] {
    const open = this.#openCall
    this.#openCall = undefined
    if (!open) return []
    this.#content.addCall(open.part, open.pieces.json)
    return [this.writer.toolArguments(open.index, open.pieces.json)]
  }
}

interface OpenCall {
  readonly index: number
  /** The part in which it began. */
  readonly part: GeminiPart
  readonly pieces: PartialArguments
}
