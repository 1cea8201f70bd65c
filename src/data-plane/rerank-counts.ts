import type { RerankCall } from '../core/rerank.ts'
import { createPromptUsage, type Usage } from '../core/usage.ts'
import { estimateRerank } from '../tokens/index.ts'
import type { RankedPart } from './call-rerank.ts'

/** What a rerank request has taken, each count reported by the upstream or else estimated. */
export interface RerankCounts {
  readonly tokens: Count
  readonly searchUnits: Count
}

interface Count {
  readonly value: number
  readonly estimated: boolean
}

/** A search unit is a query with up to so many documents. */
const documentsPerUnit = 100

export function countsOf(call: RerankCall, parts: readonly RankedPart[]): RerankCounts {
  return {
    tokens: countOr(
      parts.map(({ tokens }) => tokens),
      () => estimateRerank(call),
    ),
    searchUnits: countOr(
      parts.map(({ searchUnits }) => searchUnits),
      () => unitsOf(call),
    ),
  }
}

/** What a rerank request takes by the usual measure. */
export function unitsOf({ documents }: RerankCall): number {
  return Math.ceil(documents.length / documentsPerUnit)
}

/** The `usage` object of the answer. Vendors bill in one of the two, so each has a flag. */
export function renderCounts({ tokens, searchUnits }: RerankCounts): object {
  return {
    search_units: searchUnits.value,
    total_tokens: tokens.value,
    tokens_estimated: tokens.estimated,
    ...(searchUnits.estimated && { estimated: true }),
  }
}

/** Rerank writes nothing, so all tokens are the prompt's. */
export function usageOf({ tokens: { value, estimated } }: RerankCounts): Usage {
  return createPromptUsage(value, estimated)
}

/** The sum of what was reported, or an estimate unless all parts have reported. */
function countOr(reported: readonly (number | undefined)[], estimate: () => number): Count {
  const known = reported.filter((count) => count !== undefined)
  if (known.length < reported.length) return { value: estimate(), estimated: true }
  return { value: known.reduce((sum, count) => sum + count, 0), estimated: false }
}
