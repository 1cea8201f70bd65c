import * as z from 'zod'
import type { RerankEndpoint, Target } from '../../core/provider.ts'
import { jsonBody } from '../shared/json-body.ts'
import { errorParser, type StatusOf } from '../shared/parse-error.ts'
import { notRanked, ranked, scoreEntry } from '../shared/rerank-answer.ts'
import { basePath } from '../shared/url.ts'

/** Rerank of Text Embeddings Inference: one model a server, and a bare list for an answer. */
export function teiRerank({ baseUrl }: Target, statusOf: StatusOf): RerankEndpoint {
  const url = new URL(baseUrl)
  // Its OpenAI layer knows nothing of rerank.
  url.pathname = `${basePath(url).replace(/\/v1$/, '')}/rerank`
  url.hash = ''
  return {
    // The server's `max_client_batch_size`, as it is by default.
    mostDocuments: 32,
    request: ({ query, documents }) => ({
      url: url.href,
      headers: {},
      body: jsonBody({ query, texts: documents }),
    }),
    answer(body) {
      const parsed = teiAnswer.safeParse(body)
      return parsed.success ? ranked(parsed.data) : notRanked(body)
    },
    parseError: errorParser(statusOf),
  }
}

const teiAnswer = z.array(scoreEntry)
