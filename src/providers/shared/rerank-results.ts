import * as z from 'zod'
import type { RerankEndpoint } from '../../core/provider.ts'
import { encodeJsonBody } from './request.ts'
import { relevanceEntry, toRerankFailure, toRerankResult, totalTokens } from './rerank-answer.ts'
import { createErrorParser } from './vendor-error.ts'

export interface ResultsRerankOptions {
  readonly url: string
  readonly upstreamId: string
  /** The vendor repeats the documents unless it is told not to. */
  readonly returnsDocuments?: boolean
  /** The vendor bills by the tokens that it reports, so its count holds. */
  readonly reportsBilledTokens?: boolean
}

/** Rerank of the many servers that took over Cohere's names without its bill. */
export function resultsRerank(options: ResultsRerankOptions): RerankEndpoint {
  const { url, upstreamId, returnsDocuments, reportsBilledTokens } = options
  return {
    buildRequest: ({ query, documents, topN }) => ({
      url,
      headers: {},
      body: encodeJsonBody({
        model: upstreamId,
        query,
        documents,
        top_n: topN,
        ...(returnsDocuments && { return_documents: false }),
      }),
    }),
    parseAnswer(body) {
      const parsed = resultsAnswer.safeParse(body)
      if (!parsed.success) return toRerankFailure(body)
      const { results, usage } = parsed.data
      return toRerankResult(results, {
        tokens: reportsBilledTokens ? usage?.total_tokens : undefined,
      })
    },
    parseError: createErrorParser(),
  }
}

const resultsAnswer = z.looseObject({ results: z.array(relevanceEntry), usage: totalTokens })
