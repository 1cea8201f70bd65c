import type { RerankCall } from '../core/rerank.ts'
import { countUtf8Bytes } from '../wire/utf8.ts'
import { tokensOfBytes } from './heuristic.ts'

/** An estimate of a rerank request by bytes: each document together with the query, as vendors bill it. */
export function estimateRerank({ query, documents }: RerankCall): number {
  const queryTokens = tokensOfBytes(countUtf8Bytes(query))
  return documents.reduce((sum, text) => sum + queryTokens + tokensOfBytes(countUtf8Bytes(text)), 0)
}
