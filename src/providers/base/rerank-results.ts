import * as z from 'zod'
import type { RerankEndpoint } from '../../core/endpoints.ts'
import { isHiddenError } from './hidden-error.ts'
import { encodeJsonBody } from './request.ts'
import { relevanceEntry, toRerankFailure, toRerankResult, totalTokens } from './rerank-answer.ts'
import { createErrorParser } from './vendor-error.ts'

export interface ResultsRerankOptions {
  readonly url: string
  readonly upstreamId: string
  /** The vendor returns the documents unless `return_documents` is false. */
  readonly returnsDocuments?: boolean
  /** The vendor bills the tokens that it reports, so its count is used. */
  readonly reportsBilledTokens?: boolean
}

/** Rerank for the servers that use Cohere's field names but not its billing units. */
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
      if (!parsed.success || isHiddenError(parsed.data, parsed.data.results))
        return toRerankFailure(body)
      const { results, usage } = parsed.data
      return toRerankResult(results, {
        tokens: reportsBilledTokens ? usage?.total_tokens : undefined,
      })
    },
    parseError: createErrorParser(),
  }
}

const resultsAnswer = z.looseObject({ results: z.array(relevanceEntry), usage: totalTokens })
