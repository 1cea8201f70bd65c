import * as z from 'zod'
import type { RerankEndpoint } from '../../core/provider.ts'
import { jsonBody } from './json-body.ts'
import { errorParser } from './parse-error.ts'
import { notRanked, ranked, relevanceEntry, totalTokens } from './rerank-answer.ts'

export interface ResultsRerankOptions {
  readonly url: string
  readonly upstreamId: string
  /** The vendor repeats the documents unless it is told not to. */
  readonly echoes?: boolean
  /** The vendor bills by the tokens that it reports, so its count holds. */
  readonly countsTokens?: boolean
}

/** Rerank of the many servers that took over Cohere's names without its bill. */
export function resultsRerank(options: ResultsRerankOptions): RerankEndpoint {
  const { url, upstreamId, echoes, countsTokens } = options
  return {
    buildRequest: ({ query, documents, topN }) => ({
      url,
      headers: {},
      body: jsonBody({
        model: upstreamId,
        query,
        documents,
        top_n: topN,
        ...(echoes && { return_documents: false }),
      }),
    }),
    parseAnswer(body) {
      const parsed = resultsAnswer.safeParse(body)
      if (!parsed.success) return notRanked(body)
      const { results, usage } = parsed.data
      return ranked(results, { tokens: countsTokens ? usage?.total_tokens : undefined })
    },
    parseError: errorParser(),
  }
}

const resultsAnswer = z.looseObject({ results: z.array(relevanceEntry), usage: totalTokens })
