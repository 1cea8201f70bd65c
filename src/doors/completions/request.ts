import { validateAsSent } from '../../core/as-sent.ts'
import type { ImagePart, OutputEstimate } from '../../core/chat.ts'
import type { NativeCall } from '../../core/endpoints.ts'
import { invalidField } from '../../core/invalid-field.ts'
import type { ByteSpan, CacheLife, MemberLayout, ObjectLayout } from '../../core/layout.ts'
import type { TokenEncoding } from '../../core/ports.ts'
import type { Model } from '../../core/provider.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import type {
  DoorCall,
  EarlyWriter,
  LinkCall,
  ReceivedRequest,
  WriterContext,
} from '../../data-plane/index.ts'
import type { StreamWriter } from '../../stream/stream-writer.ts'
import type { TokenCountInput } from '../../tokens/index.ts'
import { parseObject, readJsonBody } from '../../wire/json/body.ts'
import { isHeavyBody, isLargeBody } from '../body-weight.ts'
import { NativeLink, type NativeRequest } from '../native-link.ts'
import { readTextMember } from '../session.ts'
import { estimateOutput, estimatePrompt, measurePrompts, type PromptSize } from './estimate.ts'
import { type CompletionFields, type CompletionHead, completionRequest } from './fields.ts'
import { matchCompletion } from './match.ts'
import { type Prompts, readPrompts } from './prompts.ts'
import { createCompletionWriter } from './stream.ts'

/** Members that the gateway routes and prices by. Each may occur once, as for chat. */
const unique = [
  'model',
  'stream',
  'n',
  'best_of',
  'max_tokens',
  'max_completion_tokens',
  'max_output_tokens',
] as const

const names = [...unique, 'stream_options', 'prompt_cache_key'] as const

interface CompletionRequest {
  readonly fields: CompletionFields
  readonly prompts: Prompts
}

/** Reads a text completion request, or throws LM-1001 with the field at fault. */
export async function readCompletion({
  bytes,
  slice,
  isUtf8,
}: Pick<ReceivedRequest, 'bytes' | 'slice' | 'isUtf8'>): Promise<ParsedCompletion> {
  const matched = matchCompletion(bytes, isUtf8)
  if (matched) return new ParsedCompletion({ bytes, ...matched })
  await slice.pause()
  const { layout, value } = await readJsonBody(bytes, { names, unique, timeSlice: slice })
  const parsed = validate(value)
  const { fields, prompts } = parsed
  const size = measurePrompts(prompts, fields.suffix ?? '')
  return new ParsedCompletion({ bytes, layout, head: fields, size, parsed })
}

function validate(value: unknown): CompletionRequest {
  const read = validateAsSent(completionRequest, value)
  if (!read.success) throw invalidField(read.error)
  return { fields: read.data, prompts: readPrompts(read.data['prompt']) }
}

/** A text completion request as far as it is read. */
interface CompletionSource {
  readonly bytes: Uint8Array
  readonly layout: MemberLayout<'model' | 'stream_options' | 'prompt_cache_key'> &
    Pick<ObjectLayout<never>, 'values' | 'cacheLife'>
  readonly head: CompletionHead
  readonly size: PromptSize
  /** Undefined when only the bytes were read. */
  readonly parsed?: CompletionRequest
}

/**
 * A text completion request. A heavy one does not stay parsed. It does without `ParsedBody`: only an exact count needs
 * the parsed form, which is more than the JSON, and nothing is parsed in steps.
 */
export class ParsedCompletion implements DoorCall, NativeRequest {
  readonly call: NativeCall
  readonly model: string
  readonly stream: boolean
  readonly choices: number
  readonly images: readonly ImagePart[] = []
  readonly promptTokens: number
  readonly cacheLife: CacheLife
  /** Every prompt is one text, whose beginning is not known. */
  readonly prefix = undefined
  readonly isHeavy: boolean
  readonly isLarge: boolean
  readonly #wantsUsageChunk: boolean
  readonly #output: OutputEstimate
  readonly #sessionSpans: readonly ByteSpan[]
  #request: CompletionRequest | undefined

  constructor({ bytes, layout, head, size, parsed }: CompletionSource) {
    this.model = head.model
    this.stream = head.stream === true
    this.call = { bytes, layout, stream: this.stream, headers: {}, query: '' }
    this.choices = (head.n ?? 1) * size.count
    this.promptTokens = estimatePrompt(size)
    this.cacheLife = layout.cacheLife
    this.isHeavy = isHeavyBody(bytes, layout.values)
    this.isLarge = isLargeBody(bytes)
    this.#wantsUsageChunk = head.stream_options?.include_usage === true
    this.#output = estimateOutput(head, size.count)
    this.#request = parsed
    this.#sessionSpans = layout.spans.prompt_cache_key
  }

  get askedTokens(): number {
    return this.#output.isBounded ? this.#output.maxTokens : 0
  }

  get session(): string | undefined {
    return readTextMember(this.call.bytes, this.#sessionSpans)
  }

  /** Throws LM-2002 if no link of the chain has this API. */
  bind(link: Model): LinkCall {
    const endpoint = link.native.completions
    if (endpoint) return new NativeLink(this, endpoint)
    const message = `model ${link.id} does not have the text completions API; use POST /v1/chat/completions`
    throw new UntranslatableError(message, 'model', { code: 'LM-2002' })
  }

  estimateOutput(): OutputEstimate {
    return this.#output
  }

  toNative(): NativeCall {
    return this.call
  }

  createEarlyWriter(context: WriterContext): EarlyWriter {
    return this.createNativeWriter(context)
  }

  createNativeWriter(context: WriterContext): StreamWriter {
    return createCompletionWriter(context, this.#wantsUsageChunk)
  }

  toCountInput(encoding: TokenEncoding, output: string): TokenCountInput {
    this.#request ??= validate(parseObject(this.call.bytes))
    const { fields, prompts } = this.#request
    const { suffix } = fields
    const suffixes = suffix ? Array.from({ length: prompts.count }, () => suffix) : []
    return {
      encoding,
      prompt: [...prompts.texts, ...suffixes],
      output,
      overhead: prompts.tokenIds,
    }
  }

  forget(): void {
    if (this.isHeavy) this.#request = undefined
  }
}
