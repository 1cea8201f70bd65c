import * as z from 'zod'
import type { RerankEndpoint, RerankResult } from '../../core/endpoints.ts'
import type { DialectTarget } from '../../core/provider-kind.ts'
import { encodeJsonBody } from '../base/request.ts'
import { relevanceEntry, toRerankFailure, toRerankResult } from '../base/rerank-answer.ts'
import { cohereErrorParser } from './errors.ts'
import { rerankUrl } from './url.ts'

/**
 * Rerank in the schema of Cohere's API v2, which neither selects fields of documents nor returns
 * the documents.
 */
export function cohereRerank({ baseUrl, upstreamId, clock }: DialectTarget): RerankEndpoint {
  const url = rerankUrl(baseUrl)
  return {
    buildRequest: ({ query, documents, topN }) => ({
      url,
      headers: {},
      body: encodeJsonBody({ model: upstreamId, query, documents, top_n: topN }),
    }),
    parseAnswer: parseCohereRanking,
    parseError: cohereErrorParser(clock),
  }
}

const cohereAnswer = z.looseObject({
  results: z.array(relevanceEntry),
  meta: z
    .looseObject({
      billed_units: z.looseObject({ search_units: z.unknown().optional() }).nullish(),
    })
    .nullish()
    .catch(undefined),
})

/** Parses the answer of either API version, at Cohere and at the clouds that host its models. */
export function parseCohereRanking(body: unknown): RerankResult {
  const parsed = cohereAnswer.safeParse(body)
  if (!parsed.success) return toRerankFailure(body)
  const { results, meta } = parsed.data
  return toRerankResult(results, { searchUnits: meta?.billed_units?.search_units })
}
