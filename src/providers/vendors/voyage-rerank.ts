import * as z from 'zod'
import type { RerankEndpoint, Target } from '../../core/provider.ts'
import { jsonBody } from '../shared/json-body.ts'
import { errorParser } from '../shared/parse-error.ts'
import { notRanked, ranked, relevanceEntry, totalTokens } from '../shared/rerank-answer.ts'
import { operationUrl } from '../shared/url.ts'

/** Rerank of Voyage AI: `top_k`, and results under `data`. */
export function voyageRerank({ baseUrl, upstreamId }: Target): RerankEndpoint {
  const url = operationUrl(baseUrl, '/v1', '/rerank')
  return {
    request: ({ query, documents, topN }) => ({
      url,
      headers: {},
      body: jsonBody({ model: upstreamId, query, documents, top_k: topN }),
    }),
    answer(body) {
      const parsed = voyageAnswer.safeParse(body)
      if (!parsed.success) return notRanked(body)
      return ranked(parsed.data.data, { tokens: parsed.data.usage?.total_tokens })
    },
    parseError: errorParser(),
  }
}

const voyageAnswer = z.looseObject({ data: z.array(relevanceEntry), usage: totalTokens })
