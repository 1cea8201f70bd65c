import * as z from 'zod'
import type { RerankEndpoint } from '../../core/endpoints.ts'
import type { DialectTarget } from '../../core/provider-kind.ts'
import type { Ranking } from '../../core/rerank.ts'
import { encodeJsonBody, getBasePath } from '../base/request.ts'
import { documentIndex, toRerankFailure, toRerankResult } from '../base/rerank-answer.ts'
import { createErrorParser } from '../base/vendor-error.ts'
import type { DecisionQuirks } from '../openai/decisions.ts'

/** Rerank of Workers AI: beside the OpenAI layer under `/v1`, with the model in the path. */
export function cloudflareRerank(target: DialectTarget): RerankEndpoint {
  const url = buildRunUrl(target)
  return {
    buildRequest: ({ query, documents, topN }) => ({
      url,
      headers: {},
      body: encodeJsonBody({ query, contexts: documents.map((text) => ({ text })), top_k: topN }),
    }),
    parseAnswer(body) {
      const parsed = cloudflareAnswer.safeParse(body)
      return parsed.success ? toRerankResult(parsed.data.result.response) : toRerankFailure(body)
    },
    parseError: createErrorParser(),
  }
}

/** Decisions of Workers AI: at the same address. https://developers.cloudflare.com/workers-ai */
export const cloudflareDecisions: DecisionQuirks = Object.freeze({
  form: 'typesafe',
  buildUrl: buildRunUrl,
  hasEnvelope: true,
})

function buildRunUrl({ baseUrl, upstreamId }: DialectTarget): string {
  const url = new URL(baseUrl)
  url.pathname = `${toRootPath(getBasePath(url))}/run/${upstreamId}`
  url.hash = ''
  return url.href
}

/** `base_url` may name the OpenAI layer or the account. */
function toRootPath(path: string): string {
  return /\/accounts\/[^/]+$/.test(path) ? `${path}/ai` : path.replace(/\/v1$/, '')
}

/** `id` is the index of the document. */
const idEntry = z
  .looseObject({ id: documentIndex, score: z.number() })
  .transform(({ id: index, score }): Ranking => ({ index, score }))

const cloudflareAnswer = z.looseObject({
  // A failure may come with a 200.
  success: z.literal(true).nullish(),
  result: z.looseObject({ response: z.array(idEntry) }),
})
