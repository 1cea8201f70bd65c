import * as z from 'zod'
import type { RerankEndpoint, Target } from '../../core/provider.ts'
import { jsonBody } from '../shared/json-body.ts'
import { errorParser } from '../shared/parse-error.ts'
import { notRanked, ranked, scoreEntry } from '../shared/rerank-answer.ts'
import { operationUrl } from '../shared/url.ts'

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
    parseError: errorParser(),
  }
}

const mixedbreadAnswer = z.looseObject({ data: z.array(scoreEntry) })
