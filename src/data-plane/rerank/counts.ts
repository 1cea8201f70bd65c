import type { UsageEstimate } from '../../core/admission.ts'
import type { RerankCall } from '../../core/rerank.ts'
import { createPromptUsage, type Usage } from '../../core/usage.ts'
import { estimateRerankTokens } from '../../tokens/index.ts'
import type { RankedPart } from './call.ts'

/** The usage of a rerank request. Each count is the upstream's, or else an estimate. */
export interface RerankCounts {
  readonly tokens: Count
  readonly searchUnits: Count
}

interface Count {
  readonly value: number
  readonly estimated: boolean
}

/** A search unit is one query with up to this many documents. */
const documentsPerUnit = 100

/** Sums the usage of all parts. */
export function countRerank(call: RerankCall, parts: readonly RankedPart[]): RerankCounts {
  return {
    tokens: sumOrEstimate(
      parts.map(({ tokens }) => tokens),
      () => estimateRerankTokens(call),
    ),
    searchUnits: sumOrEstimate(
      parts.map(({ searchUnits }) => searchUnits),
      () => estimateSearchUnits(call),
    ),
  }
}

/** Estimates the search units of a request, as most vendors count them. */
export function estimateSearchUnits({ documents }: RerankCall): number {
  return Math.ceil(documents.length / documentsPerUnit)
}

/** The `usage` object of the answer. Vendors bill by one of the two counts, so each has its own flag. */
export function renderRerankUsage({ tokens, searchUnits }: RerankCounts): object {
  return {
    search_units: searchUnits.value,
    total_tokens: tokens.value,
    tokens_estimated: tokens.estimated,
    ...(searchUnits.estimated && { estimated: true }),
  }
}

/** Rerank generates no text, so all tokens belong to the prompt. */
export function toUsage({ tokens: { value, estimated } }: RerankCounts): Usage {
  return createPromptUsage(value, estimated)
}

/** Sums the reported counts, or estimates when a part did not report one. */
function sumOrEstimate(reported: readonly (number | undefined)[], estimate: () => number): Count {
  const known = reported.filter((count) => count !== undefined)
  if (known.length < reported.length) return { value: estimate(), estimated: true }
  return { value: known.reduce((sum, count) => sum + count, 0), estimated: false }
}

/** Estimates the usage of a request in both units, because vendors bill by either. */
export function estimateUsage(call: RerankCall): UsageEstimate {
  return { promptTokens: estimateRerankTokens(call), searchUnits: estimateSearchUnits(call) }
}
