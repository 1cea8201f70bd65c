import * as z from 'zod'
import type { RerankEndpoint, Target } from '../../core/provider.ts'
import { jsonBody } from '../shared/json-body.ts'
import { errorParser } from '../shared/parse-error.ts'
import { notRanked, ranked, scoreEntry } from '../shared/rerank-answer.ts'
import { operationUrl } from '../shared/url.ts'

/** The version of the API that the shapes here are of. */
const apiVersion = '2026-04'

/** Rerank of Pinecone. Documents are objects, and are repeated unless one says no. */
export function pineconeRerank({ baseUrl, upstreamId }: Target): RerankEndpoint {
  const url = operationUrl(baseUrl, '', '/rerank')
  return {
    request: ({ query, documents, topN }) => ({
      url,
      headers: { 'x-pinecone-api-version': apiVersion },
      body: jsonBody({
        model: upstreamId,
        query,
        documents: documents.map((text) => ({ text })),
        top_n: topN,
        return_documents: false,
      }),
    }),
    answer(body) {
      const parsed = pineconeAnswer.safeParse(body)
      if (!parsed.success) return notRanked(body)
      return ranked(parsed.data.data, { searchUnits: parsed.data.usage?.rerank_units })
    },
    parseError: errorParser(),
  }
}

const pineconeAnswer = z.looseObject({
  data: z.array(scoreEntry),
  usage: z.looseObject({ rerank_units: z.unknown().optional() }).nullish().catch(undefined),
})
