import * as z from 'zod'
import type { RerankEndpoint } from '../../core/endpoints.ts'
import type { DialectTarget, ProviderKind } from '../../core/provider-kind.ts'
import { authorizeWithHeader } from '../base/credentials.ts'
import { buildOperationUrl, encodeJsonBody } from '../base/request.ts'
import { scoreEntry, toRerankFailure, toRerankResult } from '../base/rerank-answer.ts'
import { createErrorParser } from '../base/vendor-error.ts'

/** Pinecone's inference API, of which the gateway serves rerank. */
export const pinecone: ProviderKind = Object.freeze({
  name: 'pinecone',
  capabilities: ['rerank'],
  defaultBaseUrl: 'https://api.pinecone.io',
  canFetchImages: false,
  createAuthorizer: authorizeWithHeader('api-key'),
  rerank: pineconeRerank,
} satisfies ProviderKind)

/** The API version whose request and response shapes this file uses. */
const apiVersion = '2026-04'

/**
 * Documents are objects. Pinecone returns them in its answer unless `return_documents` is false. See
 * https://docs.pinecone.io/reference/api/2025-01/inference/rerank
 */
function pineconeRerank({ baseUrl, upstreamId }: DialectTarget): RerankEndpoint {
  const url = buildOperationUrl(baseUrl, '', '/rerank')
  return {
    buildRequest: ({ query, documents, topN }) => ({
      url,
      headers: { 'x-pinecone-api-version': apiVersion },
      body: encodeJsonBody({
        model: upstreamId,
        query,
        documents: documents.map((text) => ({ text })),
        top_n: topN,
        return_documents: false,
      }),
    }),
    parseAnswer(body) {
      const parsed = rerankAnswer.safeParse(body)
      if (!parsed.success) return toRerankFailure(body)
      return toRerankResult(parsed.data.data, { searchUnits: parsed.data.usage?.rerank_units })
    },
    parseError: createErrorParser(),
  }
}

const rerankAnswer = z.looseObject({
  data: z.array(scoreEntry),
  usage: z.looseObject({ rerank_units: z.unknown().optional() }).nullish().catch(undefined),
})
