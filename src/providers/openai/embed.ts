import * as z from 'zod'
import { type EmbedInput, type VectorValue, vectorValue } from '../../core/embeddings.ts'
import type { BatchLimits, EmbedEndpoint, EmbedResult } from '../../core/provider.ts'
import { toEmbedFailure, toEmbedResult } from '../shared/embed-answer.ts'
import { type MixedDialect, toPlainInput } from '../shared/embed-input.ts'
import { encodeJsonBody } from '../shared/request.ts'
import { createErrorParser, type MapStatus } from '../shared/vendor-error.ts'

/** What one vendor's embeddings differ in. */
export interface EmbedQuirks {
  readonly limits: BatchLimits
  readonly supportsTokenIds?: boolean
  /** The vendor's name for `dimensions`, `dimensions` by default; null where it knows none. */
  readonly dimensions?: string | null
  /** How items with images are said, where the vendor takes them. */
  readonly mixed?: MixedDialect
  /** The count that holds is `total_tokens`. */
  readonly usesTotalTokens?: boolean
  /** Texts in the place of vectors are no float32. */
  readonly rejectsBase64?: boolean
}

export interface OpenAiEmbedOptions extends EmbedQuirks {
  readonly url: string
  readonly upstreamId: string
  readonly mapStatus?: MapStatus | undefined
}

/** What OpenAI takes: 2,048 items and 300,000 tokens, which we can only estimate. */
export const openAiEmbedDefaults: EmbedQuirks = Object.freeze({
  limits: { items: 2048, tokens: 250_000 },
})

/** Embeddings of an upstream that speaks the OpenAI format, or one much like it. */
export function openAiEmbed(options: OpenAiEmbedOptions): EmbedEndpoint {
  const {
    url,
    upstreamId,
    limits,
    supportsTokenIds = true,
    dimensions = 'dimensions',
    mixed,
  } = options
  return {
    getLimits: (input) => ({ ...limits, ...(input.shape === 'parts' && mixed?.limits) }),
    supportsTokenIds,
    supportsImages: mixed !== undefined,
    supportsDimensions: dimensions !== null,
    ...(mixed?.check && { check: mixed.check }),
    buildRequest: (batch) => ({
      url,
      headers: {},
      body: encodeJsonBody({
        model: upstreamId,
        ...buildInputMembers(batch.input, mixed),
        ...(dimensions !== null && { [dimensions]: batch.dimensions }),
      }),
    }),
    parseAnswer: (body) => parseOpenAiVectors(body, options),
    parseError: createErrorParser(options.mapStatus),
  }
}

function buildInputMembers(input: EmbedInput, mixed: MixedDialect | undefined): object {
  return input.shape === 'parts' && mixed ? mixed.members(input) : { input: toPlainInput(input) }
}

const entry = z.looseObject({ index: z.int().nonnegative().nullish(), embedding: vectorValue })

const openAiAnswer = z.looseObject({
  data: z.array(entry),
  usage: z
    .looseObject({ prompt_tokens: z.unknown().optional(), total_tokens: z.unknown().optional() })
    .nullish()
    .catch(undefined),
})

/** Reads the OpenAI format. The order is that of `index`, where the vendor gives one. */
export function parseOpenAiVectors(
  body: unknown,
  { usesTotalTokens, rejectsBase64 }: Pick<EmbedQuirks, 'usesTotalTokens' | 'rejectsBase64'> = {},
): EmbedResult {
  const parsed = openAiAnswer.safeParse(body)
  if (!parsed.success) return toEmbedFailure(body)
  const { data, usage } = parsed.data
  if (rejectsBase64 && data.some(({ embedding }) => typeof embedding === 'string')) {
    return toEmbedFailure(body)
  }
  const vectors = sortByIndex(data)
  if (!vectors) return { ok: false, failure: { kind: 'malformed', detail: 'it repeats an index' } }
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
