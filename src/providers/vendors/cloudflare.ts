import * as z from 'zod'
import type { DialectTarget, RerankEndpoint } from '../../core/provider.ts'
import type { Ranking } from '../../core/rerank.ts'
import { jsonBody } from '../shared/json-body.ts'
import { errorParser } from '../shared/parse-error.ts'
import { documentIndex, toRerankFailure, toRerankResult } from '../shared/rerank-answer.ts'
import { getBasePath } from '../shared/url.ts'

/** Rerank of Workers AI, which stands beside the OpenAI layer under `/v1`, the model in the path. */
export function cloudflareRerank({ baseUrl, upstreamId }: DialectTarget): RerankEndpoint {
  const url = new URL(baseUrl)
  url.pathname = `${toRootPath(getBasePath(url))}/run/${upstreamId}`
  url.hash = ''
  return {
    buildRequest: ({ query, documents, topN }) => ({
      url: url.href,
      headers: {},
      body: jsonBody({ query, contexts: documents.map((text) => ({ text })), top_k: topN }),
    }),
    parseAnswer(body) {
      const parsed = cloudflareAnswer.safeParse(body)
      return parsed.success ? toRerankResult(parsed.data.result.response) : toRerankFailure(body)
    },
    parseError: errorParser(),
  }
}

/** The address may be that of the OpenAI layer, or that of the account itself. */
function toRootPath(path: string): string {
  return /\/accounts\/[^/]+$/.test(path) ? `${path}/ai` : path.replace(/\/v1$/, '')
}

/** Its `id` is the place of the document. */
const idEntry = z
  .looseObject({ id: documentIndex, score: z.number() })
  .transform(({ id: index, score }): Ranking => ({ index, score }))

const cloudflareAnswer = z.looseObject({
  // A failure may come with a 200.
  success: z.literal(true).nullish(),
  result: z.looseObject({ response: z.array(idEntry) }),
})
