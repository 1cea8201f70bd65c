import type { RerankCall } from '../core/rerank.ts'
import { utf8Length } from '../wire/utf8.ts'
import { tokensOfBytes } from './heuristic.ts'

/** An estimate of a rerank request: the query and the documents, each once and by its bytes. */
export function estimateRerank({ query, documents }: RerankCall): number {
  return documents.reduce(
    (sum, text) => sum + tokensOfBytes(utf8Length(text)),
    tokensOfBytes(utf8Length(query)),
  )
}
