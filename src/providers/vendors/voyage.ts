import * as z from 'zod'
import {
  type EmbedInput,
  type EmbedPart,
  isTokenInput,
  iterateImages,
  toEmbedParts,
} from '../../core/embeddings.ts'
import type { EmbedEndpoint, RerankEndpoint } from '../../core/endpoints.ts'
import type { DialectTarget, ProviderKind } from '../../core/provider-kind.ts'
import { authorizeWithBearer } from '../base/credentials.ts'
import { toPlainInput } from '../base/embed-input.ts'
import { type InputTypeWords, toVendorInputType } from '../base/embed-input-type.ts'
import { buildOperationUrl, encodeJsonBody } from '../base/request.ts'
import {
  relevanceEntry,
  toRerankFailure,
  toRerankResult,
  totalTokens,
} from '../base/rerank-answer.ts'
import { createErrorParser } from '../base/vendor-error.ts'
import { parseOpenAiVectors } from '../openai/embed.ts'

/** Voyage AI: embeddings and rerank. See https://docs.voyageai.com/reference */
export const voyage: ProviderKind = Object.freeze({
  name: 'voyage',
  capabilities: ['embed', 'rerank'],
  defaultBaseUrl: 'https://api.voyageai.com/v1',
  canFetchImages: false,
  createAuthorizer: authorizeWithBearer,
  embed: voyageEmbed,
  rerank: voyageRerank,
} satisfies ProviderKind)

/** Texts go to one path, inputs with images to another. */
function voyageEmbed({ baseUrl, upstreamId }: DialectTarget): EmbedEndpoint {
  const textUrl = buildOperationUrl(baseUrl, '/v1', '/embeddings')
  const multimodalUrl = buildOperationUrl(baseUrl, '/v1', '/multimodalembeddings')
  // The multimodal models answer on the second path only, even for plain text.
  const isMultimodal = upstreamId.startsWith('voyage-multimodal')
  return {
    getLimits: () => ({ items: 1000, tokens: 100_000 }),
    supportsTokenIds: false,
    supportsImages: true,
    supportsDimensions: true,
    takesInputType: 'when-mapped',
    buildRequest({ input, dimensions, inputType }) {
      const inputs = isMultimodal || hasImages(input) ? toContents(input) : undefined
      return {
        url: inputs ? multimodalUrl : textUrl,
        headers: {},
        body: encodeJsonBody({
          model: upstreamId,
          ...(inputs ? { inputs } : { input: toPlainInput(input) }),
          output_dimension: dimensions,
          input_type: toVendorInputType({ inputType }, inputTypes),
        }),
      }
    },
    parseAnswer: (body) => parseOpenAiVectors(body, { usesTotalTokens: true }),
    parseError: createErrorParser(),
  }
}

const inputTypes: InputTypeWords = Object.freeze({
  search_document: 'document',
  search_query: 'query',
})

function hasImages(input: EmbedInput): boolean {
  return !iterateImages(input).next().done
}

function toContents(input: EmbedInput): object[] {
  if (isTokenInput(input)) return []
  return input.items.map((item) => ({ content: toEmbedParts(item).map(toContentPart) }))
}

/**
 * Despite its name, `image_base64` takes a whole data URI. See
 * https://www.mongodb.com/docs/api/doc/atlas-embedding-and-reranking-api/operation/operation-createmultimodalembedding
 */
function toContentPart(part: EmbedPart): object {
  return part.kind === 'text'
    ? { type: 'text', text: part.text }
    : { type: 'image_base64', image_base64: part.image.url }
}

/** `top_n` is called `top_k`, and the results are under `data`. */
function voyageRerank({ baseUrl, upstreamId }: DialectTarget): RerankEndpoint {
  const url = buildOperationUrl(baseUrl, '/v1', '/rerank')
  return {
    buildRequest: ({ query, documents, topN }) => ({
      url,
      headers: {},
      body: encodeJsonBody({ model: upstreamId, query, documents, top_k: topN }),
    }),
    parseAnswer(body) {
      const parsed = rerankAnswer.safeParse(body)
      if (!parsed.success) return toRerankFailure(body)
      return toRerankResult(parsed.data.data, { tokens: parsed.data.usage?.total_tokens })
    },
    parseError: createErrorParser(),
  }
}

const rerankAnswer = z.looseObject({ data: z.array(relevanceEntry), usage: totalTokens })
