import * as z from 'zod'
import type { RerankEndpoint } from '../../core/endpoints.ts'
import type { DialectTarget, ProviderKind } from '../../core/provider-kind.ts'
import { authorizeWithBearer } from '../base/credentials.ts'
import { buildOperationUrl, encodeJsonBody } from '../base/request.ts'
import { scoreEntry, toRerankFailure, toRerankResult } from '../base/rerank-answer.ts'
import { createErrorParser } from '../base/vendor-error.ts'
import { openAiEmbed } from '../openai/embed.ts'

/**
 * Mixedbread: embeddings in the OpenAI format (https://www.mixedbread.ai/api-reference/endpoints/embeddings),
 * and rerank with its own field names
 * (https://www.mixedbread.com/api-reference/endpoints/reranking/rerank-documents).
 */
export const mixedbread: ProviderKind = Object.freeze({
  name: 'mixedbread',
  capabilities: ['embed', 'rerank'],
  defaultBaseUrl: 'https://api.mixedbread.com/v1',
  canFetchImages: false,
  createAuthorizer: authorizeWithBearer,
  embed: ({ baseUrl, upstreamId }) =>
    openAiEmbed({
      url: buildOperationUrl(baseUrl, '/v1', '/embeddings'),
      upstreamId,
      limits: { items: 256 },
    }),
  rerank: mixedbreadRerank,
} satisfies ProviderKind)

function mixedbreadRerank({ baseUrl, upstreamId }: DialectTarget): RerankEndpoint {
  const url = buildOperationUrl(baseUrl, '/v1', '/reranking')
  return {
    buildRequest: ({ query, documents, topN }) => ({
      url,
      headers: {},
      body: encodeJsonBody({ model: upstreamId, query, input: documents, top_k: topN }),
    }),
    parseAnswer(body) {
      const parsed = rerankAnswer.safeParse(body)
      return parsed.success ? toRerankResult(parsed.data.data) : toRerankFailure(body)
    },
    parseError: createErrorParser(),
  }
}

const rerankAnswer = z.looseObject({ data: z.array(scoreEntry) })
