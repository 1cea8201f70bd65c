import * as z from 'zod'
import { type EmbedInput, type VectorValue, vectorValue } from '../../core/embeddings.ts'
import type { BatchLimits, EmbedEndpoint, EmbedResult } from '../../core/provider.ts'
import { embedded, notEmbedded } from '../shared/embed-answer.ts'
import { type MixedDialect, plainInput } from '../shared/embed-input.ts'
import { jsonBody } from '../shared/json-body.ts'
import { errorParser, type StatusOf } from '../shared/parse-error.ts'

/** What one vendor's embeddings differ in. */
export interface EmbedQuirks {
  readonly limits: BatchLimits
  readonly takesTokens?: boolean
  /** The vendor's name for `dimensions`, `dimensions` by default; null where it knows none. */
  readonly dimensions?: string | null
  /** How items with images are said, where the vendor takes them. */
  readonly mixed?: MixedDialect
  /** The count that holds is `total_tokens`. */
  readonly countsTotal?: boolean
  /** Texts in the place of vectors are no float32. */
  readonly numbersOnly?: boolean
}

export interface OpenAiEmbedOptions extends EmbedQuirks {
  readonly url: string
  readonly upstreamId: string
  readonly statusOf?: StatusOf | undefined
}

/** What OpenAI takes: 2,048 items and 300,000 tokens, which we can only estimate. */
export const openAiEmbedDefaults: EmbedQuirks = Object.freeze({
  limits: { items: 2048, tokens: 250_000 },
})

/** Embeddings of an upstream that speaks the OpenAI format, or one much like it. */
export function openAiEmbed(options: OpenAiEmbedOptions): EmbedEndpoint {
  const { url, upstreamId, limits, takesTokens = true, dimensions = 'dimensions', mixed } = options
  return {
    getLimits: (input) => ({ ...limits, ...(input.shape === 'parts' && mixed?.limits) }),
    supportsTokenIds: takesTokens,
    supportsImages: mixed !== undefined,
    supportsDimensions: dimensions !== null,
    ...(mixed?.check && { check: mixed.check }),
    buildRequest: (batch) => ({
      url,
      headers: {},
      body: jsonBody({
        model: upstreamId,
        ...membersFor(batch.input, mixed),
        ...(dimensions !== null && { [dimensions]: batch.dimensions }),
      }),
    }),
    parseAnswer: (body) => readOpenAiVectors(body, options),
    parseError: errorParser(options.statusOf),
  }
}

function membersFor(input: EmbedInput, mixed: MixedDialect | undefined): object {
  return input.shape === 'parts' && mixed ? mixed.members(input) : { input: plainInput(input) }
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
export function readOpenAiVectors(
  body: unknown,
  { countsTotal, numbersOnly }: Pick<EmbedQuirks, 'countsTotal' | 'numbersOnly'> = {},
): EmbedResult {
  const parsed = openAiAnswer.safeParse(body)
  if (!parsed.success) return notEmbedded(body)
  const { data, usage } = parsed.data
  if (numbersOnly && data.some(({ embedding }) => typeof embedding === 'string')) {
    return notEmbedded(body)
  }
  const vectors = inOrder(data)
  if (!vectors) return { ok: false, failure: { kind: 'malformed', detail: 'it repeats an index' } }
  const prompt = countsTotal ? undefined : usage?.prompt_tokens
  return embedded(vectors, prompt ?? usage?.total_tokens)
}

function inOrder(data: readonly z.infer<typeof entry>[]): VectorValue[] | undefined {
  const vectors: VectorValue[] = []
  for (const [position, { index, embedding }] of data.entries()) {
    const at = index ?? position
    if (at >= data.length || vectors[at] !== undefined) return undefined
    vectors[at] = embedding
  }
  return vectors
}
