import * as z from 'zod'
import { loose, validateAsSent } from '../../core/as-sent.ts'
import type { ImagePart, OutputEstimate } from '../../core/chat.ts'
import type { NativeCall } from '../../core/endpoints.ts'
import { invalidField } from '../../core/invalid-field.ts'
import type { MemberLayout, ObjectLayout } from '../../core/layout.ts'
import type { TokenEncoding } from '../../core/ports.ts'
import type { Model } from '../../core/provider.ts'
import { UntranslatableError } from '../../core/untranslatable-error.ts'
import type { DoorCall, LinkCall, ReceivedRequest, WriterContext } from '../../data-plane/index.ts'
import type { StreamWriter } from '../../stream/stream-writer.ts'
import { estimateTextTokens, type TokenCountInput } from '../../tokens/index.ts'
import { parseObject, readJsonBody } from '../../wire/json-body.ts'
import { countUtf8Bytes } from '../../wire/utf8.ts'
import { isHeavyBody, isLargeBody } from '../body-weight.ts'
import { NativeLink, type NativeRequest } from '../native-link.ts'
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

const names = [...unique, 'stream_options'] as const

const count = z.int().positive().nullish()

/** 0 is allowed with `echo`, which returns only the prompt. */
const bound = z.int().nonnegative().nullish()

/** The fields of a completion request that the gateway reads, except for the prompt. */
const completionRequest = loose({
  model: z.string().min(1),
  suffix: z.string().nullish(),
  stream: z.boolean().nullish(),
  stream_options: loose({ include_usage: z.boolean().nullish() }).nullish(),
  max_tokens: bound,
  max_completion_tokens: bound,
  max_output_tokens: bound,
  n: count,
  best_of: count,
})

interface CompletionRequest {
  readonly fields: z.infer<typeof completionRequest>
  readonly prompts: Prompts
}

/** Reads a text completion request, or throws LM-1001 with the field at fault. */
export async function readCompletion({
  bytes,
  slice,
}: Pick<ReceivedRequest, 'bytes' | 'slice'>): Promise<DoorCall> {
  const { layout, value } = await readJsonBody(bytes, { names, unique, timeSlice: slice })
  return new ParsedCompletion(bytes, layout, value)
}

function validate(value: unknown): CompletionRequest {
  const read = validateAsSent(completionRequest, value)
  if (!read.success) throw invalidField(read.error)
  return { fields: read.data, prompts: readPrompts(read.data['prompt']) }
}

/** A text completion request. A heavy one does not stay parsed. */
class ParsedCompletion implements DoorCall, NativeRequest {
  readonly call: NativeCall
  readonly model: string
  readonly stream: boolean
  readonly choices: number
  readonly images: readonly ImagePart[] = []
  readonly promptTokens: number
  readonly isHeavy: boolean
  readonly isLarge: boolean
  readonly #wantsUsageChunk: boolean
  readonly #output: OutputEstimate
  #request: CompletionRequest | undefined

  constructor(
    bytes: Uint8Array,
    layout: MemberLayout<'model' | 'stream_options'> & Pick<ObjectLayout<never>, 'values'>,
    value: unknown,
  ) {
    const request = validate(value)
    const { fields, prompts } = request
    this.model = fields.model
    this.stream = fields.stream === true
    this.call = { bytes, layout, stream: this.stream, headers: {}, query: '' }
    this.choices = (fields.n ?? 1) * prompts.count
    this.promptTokens = estimatePromptTokens(request)
    this.isHeavy = isHeavyBody(bytes, layout.values)
    this.isLarge = isLargeBody(bytes)
    this.#wantsUsageChunk = fields.stream_options?.include_usage === true
    this.#output = estimateOutput(request)
    this.#request = request
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

/** A token id counts as one token, and the suffix counts for each prompt. */
function estimatePromptTokens({ fields, prompts }: CompletionRequest): number {
  const textTokens = prompts.texts.map((text) => estimateTextTokens(countUtf8Bytes(text)))
  const suffixTokens = estimateTextTokens(countUtf8Bytes(fields.suffix ?? '')) * prompts.count
  return textTokens.reduce((sum, tokens) => sum + tokens, prompts.tokenIds + suffixTokens)
}

/** Takes the largest bound, because upstreams differ in which one they read. */
function estimateOutput({ fields, prompts }: CompletionRequest): OutputEstimate {
  const { max_tokens, max_completion_tokens, max_output_tokens, n, best_of } = fields
  const bounds = [max_tokens, max_completion_tokens, max_output_tokens].flatMap((max) => max ?? [])
  return {
    maxTokens: Math.max(0, ...bounds),
    isBounded: bounds.length > 0,
    // The upstream generates and bills every try, and returns the best ones.
    choices: Math.max(n ?? 1, best_of ?? 1) * prompts.count,
  }
}
