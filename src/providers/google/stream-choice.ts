import { type Frame, flatMapFrames } from '../../core/frame.ts'
import type { ChunkWriter, FinishReason } from '../../stream/chunk-writer.ts'
import { toOpenAiLogprobs } from './answer.ts'
import { audioMetadata, findAudio, toOpenAiImage } from './answer-media.ts'
import { PartialArguments } from './arguments.ts'
import { isUnspecified, mapFinishReason, nativeFinishFields } from './finish-reason.ts'
import type { GeminiCall, GeminiPart, IndexedCandidate } from './response.ts'
import { signatureFields, textSignature } from './signatures.ts'
import { toOpenAiToolCall } from './tools.ts'

export interface StreamChoiceOptions {
  readonly index: number
  readonly writer: ChunkWriter
  /** Start of the stream, in Unix seconds. */
  readonly created: number
}

/** Translates one candidate of a stream: parts in, chunks out. */
export class StreamChoice {
  readonly index: number
  readonly writer: ChunkWriter
  readonly #created: number
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

  constructor({ index, writer, created }: StreamChoiceOptions) {
    this.index = index
    this.writer = writer
    this.#created = created
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

  translate(candidate: IndexedCandidate): Frame[] {
    const { content, finishReason, finishMessage, logprobsResult: tokens, refusal } = candidate
    const parts = content?.parts ?? []
    const firstText = parts.find(({ text, thought }) => text && !thought)
    const frames = flatMapFrames(parts, (part) =>
      this.#write(part, part === firstText && tokens ? toOpenAiLogprobs(tokens) : undefined),
    )
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
  flush(): Frame[] {
    const frames = this.#closeCall()
    const signature = signatureFields(this.#signature)
    this.#signature = undefined
    return signature.extra_content ? [...frames, this.writer.delta({ ...signature })] : frames
  }

  #write(part: GeminiPart, logprobs: object | undefined): Frame[] {
    const { functionCall, text, thought, thoughtSignature } = part
    if (functionCall) return this.#writeCall(functionCall, thoughtSignature)
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
  #writeCall(call: GeminiCall, signature: string | null | undefined): Frame[] {
    const frames: Frame[] = []
    if (call.name || !this.#openCall) {
      frames.push(...this.#closeCall())
      const { id, type: _, function: made, ...extra } = toOpenAiToolCall(call, signature)
      const index = this.#callCount++
      frames.push(this.writer.toolCall({ index, id, name: made.name, extra }))
      if (!call.willContinue && !call.partialArgs) {
        frames.push(this.writer.toolArguments(index, made.arguments))
        return frames
      }
      this.#openCall = { index, pieces: new PartialArguments() }
    }
    for (const piece of call.partialArgs ?? []) this.#openCall?.pieces.add(piece)
    return call.willContinue ? frames : [...frames, ...this.#closeCall()]
  }

  #closeCall(): Frame[] {
    const open = this.#openCall
    this.#openCall = undefined
    return open ? [this.writer.toolArguments(open.index, open.pieces.json)] : []
  }
}

interface OpenCall {
  readonly index: number
  readonly pieces: PartialArguments
}
