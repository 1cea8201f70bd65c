import type { Frame } from '../../core/frame.ts'
import type { ChunkWriter, FinishReason } from '../../stream/chunk-writer.ts'
import { framesOf } from '../../stream/frames-of.ts'
import { logprobsOf } from './answer.ts'
import { audioHead, imageOf, soundsIn } from './answer-media.ts'
import { ArgumentPieces } from './arguments.ts'
import { finishReasonOf, isUnspecified, nativeFinish } from './finish-reason.ts'
import type { GeminiCall, GeminiPart, PlacedCandidate } from './response.ts'
import { signatureOf, signed } from './signatures.ts'
import { toolCallOf } from './tools.ts'

export interface GeminiChoiceOptions {
  readonly index: number
  readonly writer: ChunkWriter
  /** When the stream began, unix seconds. */
  readonly created: number
}

/** One candidate of a stream on its way: parts in, chunks out. */
export class GeminiChoice {
  readonly index: number
  readonly writer: ChunkWriter
  readonly #created: number
  #hasSpoken = false
  #hasSounded = false
  /** Some accumulators of streams join lists by `index`. */
  #images = 0
  #calls = 0
  /** The call whose arguments come in pieces. */
  #open: OpenCall | undefined
  /** The signature of the text, which accumulators would string together if it came twice. */
  #signature: string | undefined
  /** The latest end given; the candidate may still go on after it. */
  #end: Pick<PlacedCandidate, 'finishReason' | 'finishMessage'> | undefined

  constructor({ index, writer, created }: GeminiChoiceOptions) {
    this.index = index
    this.writer = writer
    this.#created = created
  }

  get isFinished(): boolean {
    return this.#end !== undefined
  }

  get finishReason(): FinishReason {
    return finishReasonOf(this.#end?.finishReason, this.#calls > 0)
  }

  /** Further members of the chunk that ends the choice. */
  get extra(): Readonly<Record<string, string>> {
    return nativeFinish(this.#end ?? {})
  }

  read(candidate: PlacedCandidate): Frame[] {
    const { content, finishReason, finishMessage, logprobsResult: tokens, refusal } = candidate
    const parts = content?.parts ?? []
    const spoken = parts.find(({ text, thought }) => text && !thought)
    const frames = framesOf(parts, (part) =>
      this.#write(part, part === spoken && tokens ? logprobsOf(tokens) : undefined),
    )
    // The service's words, which no model has generated.
    if (refusal !== undefined) frames.push(this.writer.delta({ refusal }))
    if (finishReason && !isUnspecified(finishReason)) {
      this.#end = { finishReason, finishMessage }
      // A finish reason is an answer, even as the only word: the stream must not be replaced now.
      if (!this.#hasSpoken && frames.length === 0) frames.push(this.writer.role())
    }
    if (frames.length > 0) this.#hasSpoken = true
    return frames
  }

  /** What is left to say before the chunk that ends the choice. */
  rest(): Frame[] {
    const frames = this.#closeCall()
    const signature = signed(this.#signature)
    this.#signature = undefined
    return signature.extra_content ? [...frames, this.writer.delta({ ...signature })] : frames
  }

  #write(part: GeminiPart, logprobs: object | undefined): Frame[] {
    const { functionCall, text, thought, thoughtSignature } = part
    if (functionCall) return this.#call(functionCall, thoughtSignature)
    if (!thought) this.#signature = signatureOf(part) ?? this.#signature
    if (text) return [thought ? this.writer.reasoning(text) : this.writer.text(text, logprobs)]
    const image = imageOf(part)
    if (image) return [this.writer.delta({ images: [{ index: this.#images++, ...image }] })]
    return soundsIn([part]).map(({ mimeType, base64: data }) => {
      const head = this.#hasSounded ? {} : audioHead(mimeType, this.#created)
      this.#hasSounded = true
      return this.writer.delta({ audio: { ...head, data } })
    })
  }

  /** A call without a name goes on with the open one. */
  #call(call: GeminiCall, signature: string | null | undefined): Frame[] {
    const frames: Frame[] = []
    if (call.name || !this.#open) {
      frames.push(...this.#closeCall())
      const { id, type: _, function: made, ...extra } = toolCallOf(call, signature)
      const index = this.#calls++
      frames.push(this.writer.toolCall({ index, id, name: made.name, extra }))
      if (!call.willContinue && !call.partialArgs) {
        frames.push(this.writer.toolArguments(index, made.arguments))
        return frames
      }
      this.#open = { index, pieces: new ArgumentPieces() }
    }
    for (const piece of call.partialArgs ?? []) this.#open?.pieces.add(piece)
    return call.willContinue ? frames : [...frames, ...this.#closeCall()]
  }

  #closeCall(): Frame[] {
    const open = this.#open
    this.#open = undefined
    return open ? [this.writer.toolArguments(open.index, open.pieces.json)] : []
  }
}

interface OpenCall {
  readonly index: number
  readonly pieces: ArgumentPieces
}
