import type { RerankCall } from '../core/rerank.ts'
import { countUtf8Bytes } from '../wire/utf8.ts'
import { estimateTextTokens } from './heuristic.ts'

/** An estimate of a rerank request by bytes: each document together with the query, as vendors bill it. */
export function estimateRerankTokens({ query, documents }: RerankCall): number {
  const queryTokens = estimateTextTokens(countUtf8Bytes(query))
  return documents.reduce(
    (sum, text) => sum + queryTokens + estimateTextTokens(countUtf8Bytes(text)),
    0,
  )
}
