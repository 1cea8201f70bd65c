import * as z from 'zod'
import {
  type EmbedInput,
  type VectorValue,
  vectorValue,
  WrittenTexts,
} from '../../core/embeddings.ts'
import type { BatchLimits, EmbedEndpoint, EmbedResult } from '../../core/endpoints.ts'
import { scanLayout } from '../../wire/json/scan.ts'
import { splice } from '../../wire/json/splice.ts'
import { toEmbedFailure, toEmbedResult } from '../base/embed-answer.ts'
import { type MixedDialect, toPlainInput } from '../base/embed-input.ts'
import { type InputTypeWords, toVendorInputType } from '../base/embed-input-type.ts'
import { isHiddenError } from '../base/hidden-error.ts'
import { encodeJsonBody } from '../base/request.ts'
import { createErrorParser, type MapStatus } from '../base/vendor-error.ts'

/** How a vendor's embeddings API differs from OpenAI's. */
export interface EmbedQuirks {
  readonly limits: BatchLimits
  readonly supportsTokenIds?: boolean
  /** The vendor's name for `dimensions`, `dimensions` by default; null when it has no such field. */
  readonly dimensions?: string | null
  /** How to send items with images, for a vendor that accepts them. */
  readonly mixed?: MixedDialect
  /** The vendor's field for `input_type`, and its words. */
  readonly inputType?: { readonly member: string; readonly words: InputTypeWords }
  /** Takes the token count from `total_tokens` in place of `prompt_tokens`. */
  readonly usesTotalTokens?: boolean
  /** Rejects base64 vectors, because they are not float32. */
  readonly rejectsBase64?: boolean
}

export interface OpenAiEmbedOptions extends EmbedQuirks {
  readonly url: string
  readonly upstreamId: string
  readonly mapStatus?: MapStatus | undefined
}

/** OpenAI accepts 2,048 items and 300,000 tokens; the gateway's token estimate needs a margin. */
export const openAiEmbedDefaults: EmbedQuirks = Object.freeze({
  limits: { items: 2048, tokens: 250_000 },
})

/** Embeddings of an upstream that speaks the OpenAI format or a close variant. */
export function openAiEmbed(options: OpenAiEmbedOptions): EmbedEndpoint {
  const {
    url,
    upstreamId,
    limits,
    supportsTokenIds = true,
    dimensions = 'dimensions',
    mixed,
    inputType,
  } = options
  return {
    getLimits: (input) => ({ ...limits, ...(input.shape === 'parts' && mixed?.limits) }),
    supportsTokenIds,
    supportsImages: mixed !== undefined,
    supportsDimensions: dimensions !== null,
    ...(inputType && { takesInputType: 'when-mapped' }),
    takesWrittenTexts: true,
    ...(mixed?.check && { check: mixed.check }),
    buildRequest(batch) {
      const body = encodeJsonBody({
        model: upstreamId,
        ...buildInputMembers(batch.input, mixed),
        ...(dimensions !== null && { [dimensions]: batch.dimensions }),
        ...(inputType && { [inputType.member]: toVendorInputType(batch, inputType.words) }),
      })
      return { url, headers: {}, body: insertWritten(body, batch.input) }
    },
    parseAnswer: (body) => parseOpenAiVectors(body, options),
    parseError: createErrorParser(options.mapStatus),
  }
}

function buildInputMembers(input: EmbedInput, mixed: MixedDialect | undefined): object {
  if (input instanceof WrittenTexts) return { input: null }
  return input.shape === 'parts' && mixed ? mixed.members(input) : { input: toPlainInput(input) }
}

/** Inserts texts as the client wrote them. */
function insertWritten(body: Uint8Array, input: EmbedInput): Uint8Array {
  if (!(input instanceof WrittenTexts)) return body
  const { spans } = scanLayout(body, ['input'])
  return splice(
    body,
    spans.input.map((span) => ({ span, json: input.json })),
  )
}

const entry = z.looseObject({ index: z.int().nonnegative().nullish(), embedding: vectorValue })

const openAiAnswer = z.looseObject({
  data: z.array(entry),
  usage: z
    .looseObject({ prompt_tokens: z.unknown().optional(), total_tokens: z.unknown().optional() })
    .nullish()
    .catch(undefined),
})

/** Parses an answer in the OpenAI format. Vectors are ordered by `index` when the vendor sends it. */
export function parseOpenAiVectors(
  body: unknown,
  { usesTotalTokens, rejectsBase64 }: Pick<EmbedQuirks, 'usesTotalTokens' | 'rejectsBase64'> = {},
): EmbedResult {
  const parsed = openAiAnswer.safeParse(body)
  if (!parsed.success || isHiddenError(parsed.data, parsed.data.data)) return toEmbedFailure(body)
  const { data, usage } = parsed.data
  if (rejectsBase64 && data.some(({ embedding }) => typeof embedding === 'string')) {
    return toEmbedFailure(body)
  }
  const vectors = sortByIndex(data)
  if (!vectors)
    return {
      ok: false,
      failure: { kind: 'malformed', detail: 'the answer has a repeated or invalid index' },
    }
  const prompt = usesTotalTokens ? undefined : usage?.prompt_tokens
  return toEmbedResult(vectors, prompt ?? usage?.total_tokens)
}

function sortByIndex(data: readonly z.infer<typeof entry>[]): VectorValue[] | undefined {
  const vectors: VectorValue[] = []
  for (const [position, { index, embedding }] of data.entries()) {
    const at = index ?? position
    if (at >= data.length || vectors[at] !== undefined) return undefined
    vectors[at] = embedding
  }
  return vectors
}
