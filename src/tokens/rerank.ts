import type { RerankCall } from '../core/rerank.ts'
import { utf8Length } from '../wire/utf8.ts'
import { tokensOfBytes } from './heuristic.ts'

/** An estimate of a rerank request by bytes: each document together with the query, as vendors bill it. */
export function estimateRerank({ query, documents }: RerankCall): number {
  const queryTokens = tokensOfBytes(utf8Length(query))
  return documents.reduce((sum, text) => sum + queryTokens + tokensOfBytes(utf8Length(text)), 0)
}
