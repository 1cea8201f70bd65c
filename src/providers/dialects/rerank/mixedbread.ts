import * as z from 'zod'
import type { RerankEndpoint, Target } from '../../../core/provider.ts'
import { operationUrl } from '../address.ts'
import { jsonBody } from '../json-body.ts'
import { refusalBy } from '../refusal.ts'
import { notRanked, ranked, scoreEntry } from './reading.ts'

/** Rerank of Mixedbread, which has names of its own for almost everything. */
export function mixedbreadRerank({ baseUrl, upstreamId }: Target): RerankEndpoint {
  const url = operationUrl(baseUrl, '/v1', '/reranking')
  return {
    request: ({ query, documents, topN }) => ({
      url,
      headers: {},
      body: jsonBody({ model: upstreamId, query, input: documents, top_k: topN }),
    }),
    answer(body) {
      const parsed = mixedbreadAnswer.safeParse(body)
      return parsed.success ? ranked(parsed.data.data) : notRanked(body)
    },
    refusal: refusalBy(),
  }
}

const mixedbreadAnswer = z.looseObject({ data: z.array(scoreEntry) })
