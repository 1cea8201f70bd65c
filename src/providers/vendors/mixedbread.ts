import * as z from 'zod'
import type { DialectTarget, ProviderKind, RerankEndpoint } from '../../core/provider.ts'
import { openAiEmbed } from '../openai/embed.ts'
import { authorizeWithBearer } from '../shared/credentials.ts'
import { jsonBody } from '../shared/json-body.ts'
import { errorParser } from '../shared/parse-error.ts'
import { scoreEntry, toRerankFailure, toRerankResult } from '../shared/rerank-answer.ts'
import { buildOperationUrl } from '../shared/url.ts'

/** Mixedbread: embeddings in the OpenAI format, and a rerank API with its own field names. */
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
      body: jsonBody({ model: upstreamId, query, input: documents, top_k: topN }),
    }),
    parseAnswer(body) {
      const parsed = rerankAnswer.safeParse(body)
      return parsed.success ? toRerankResult(parsed.data.data) : toRerankFailure(body)
    },
    parseError: errorParser(),
  }
}

const rerankAnswer = z.looseObject({ data: z.array(scoreEntry) })
