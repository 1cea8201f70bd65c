import * as z from 'zod'
import {
  type EmbedCall,
  type EmbedInput,
  type EmbedPart,
  isTokenInput,
  iterateImages,
  toEmbedParts,
  vectorValue,
} from '../../core/embeddings.ts'
import type { EmbedEndpoint } from '../../core/endpoints.ts'
import { invalid } from '../../core/errors.ts'
import type { DialectTarget } from '../../core/provider-kind.ts'
import { isCount } from '../../core/usage.ts'
import { toEmbedFailure, toEmbedResult } from '../base/embed-answer.ts'
import { listTexts } from '../base/embed-input.ts'
import { encodeJsonBody } from '../base/request.ts'
import { cohereErrorParser } from './errors.ts'
import { cohereUrl } from './url.ts'

/** Embeddings in the schema of Cohere's API v2: https://docs.cohere.com/reference/embed */
export function cohereEmbed({ baseUrl, upstreamId, clock }: DialectTarget): EmbedEndpoint {
  const url = cohereUrl(baseUrl, 'embed')
  return {
    getLimits: () => ({ items: maxCohereItems }),
    supportsTokenIds: false,
    supportsImages: true,
    supportsDimensions: true,
    takesInputType: 'always',
    check: checkInputType,
    buildRequest: (batch) => ({
      url,
      headers: {},
      body: encodeJsonBody({
        model: upstreamId,
        ...toInputMembers(batch.input),
        input_type: readCohereInputType(batch),
        embedding_types: ['float'],
        output_dimension: batch.dimensions,
      }),
    }),
    parseAnswer(body) {
      const parsed = cohereAnswer.safeParse(body)
      if (!parsed.success) return toEmbedFailure(body)
      const { embeddings, meta } = parsed.data
      return toEmbedResult(selectCohereVectors(embeddings), countTokens(meta))
    },
    parseError: cohereErrorParser(clock),
  }
}

/** Maximum number of texts or inputs in one call: https://docs.cohere.com/reference/embed */
export const maxCohereItems = 96

const inputTypes = ['search_document', 'search_query', 'classification', 'clustering'] as const

/** The values of a model's `input_type` in the configuration, with the short forms of the first two. */
export const configuredInputTypes: readonly string[] = [...inputTypes, 'document', 'query']

/** Throws LM-1001 for an unknown `input_type`. */
export function checkInputType({ inputType }: EmbedCall): void {
  if (inputType === undefined || inputTypes.some((known) => known === inputType)) return
  throw invalid(`input_type: must be one of ${inputTypes.join(', ')}`, 'input_type')
}

/** Returns the `input_type`, which newer models require. */
export function readCohereInputType({ inputType }: EmbedCall): unknown {
  return inputType ?? 'search_document'
}

/** Older models accept only `texts`, so `inputs` is used only when there is an image. */
function toInputMembers(input: EmbedInput): object {
  if (isTokenInput(input) || iterateImages(input).next().done) return { texts: listTexts(input) }
  return {
    inputs: input.items.map((item) => ({ content: toEmbedParts(item).map(toContentBlock) })),
  }
}

function toContentBlock(part: EmbedPart): object {
  return part.kind === 'text'
    ? { type: 'text', text: part.text }
    : { type: 'image_url', image_url: { url: part.image.url } }
}

/** Embeddings by type, as requested; API v1 and Bedrock return a bare list. */
export const cohereEmbeddingsSchema = z.union([
  z.looseObject({ float: z.array(vectorValue) }),
  z.array(vectorValue),
])

export function selectCohereVectors(
  embeddings: z.infer<typeof cohereEmbeddingsSchema>,
): readonly z.infer<typeof vectorValue>[] {
  return Array.isArray(embeddings) ? embeddings : embeddings.float
}

const counts = z
  .looseObject({ input_tokens: z.unknown().optional(), image_tokens: z.unknown().optional() })
  .nullish()
  .catch(undefined)

const cohereAnswer = z.looseObject({
  embeddings: cohereEmbeddingsSchema,
  meta: z.looseObject({ billed_units: counts, tokens: counts }).nullish().catch(undefined),
})

function countTokens(meta: z.infer<typeof cohereAnswer>['meta']): number | undefined {
  const { input_tokens: text, image_tokens: images } = meta?.billed_units ?? meta?.tokens ?? {}
  // The vendor declares its counts as floats.
  const given = [text, images].filter((count) => typeof count === 'number').map(Math.round)
  return given.length > 0 && given.every(isCount) ? given.reduce((a, b) => a + b) : undefined
}
