import * as z from 'zod'
import type { RerankResult } from '../../core/endpoints.ts'
import type { Ranking } from '../../core/rerank.ts'
import { isCount, parsePromptCount } from '../../core/usage.ts'
import { toShapeFailure } from './hidden-error.ts'

/** The index of a document in the call. */
export const documentIndex = z.int().nonnegative()

/** A result in Cohere's form, which most vendors have adopted. */
export const relevanceEntry = z
  .looseObject({ index: documentIndex, relevance_score: z.number() })
  .transform(({ index, relevance_score: score }): Ranking => ({ index, score }))

/** A result with a `score` member. */
export const scoreEntry = z
  .looseObject({ index: documentIndex, score: z.number() })
  .transform(({ index, score }): Ranking => ({ index, score }))

/** The token count of an answer. */
export const totalTokens = z
  .looseObject({ total_tokens: z.unknown().optional() })
  .nullish()
  .catch(undefined)

/** The billed amounts that a vendor reports, not yet validated. */
interface ReportedBill {
  readonly searchUnits?: unknown
  readonly tokens?: unknown
}

/** Returns the result for a parsed answer. */
export function toRerankResult(
  results: readonly Ranking[],
  { searchUnits, tokens }: ReportedBill = {},
): RerankResult {
  return {
    ok: true,
    results,
    // Cohere declares its units as floats.
    searchUnits: toCount(typeof searchUnits === 'number' ? Math.round(searchUnits) : undefined),
    tokens: parsePromptCount(tokens),
  }
}

/** Returns the failure for an answer of another shape, with the vendor's message if it has one. */
export function toRerankFailure(body: unknown): RerankResult {
  return { ok: false, failure: toShapeFailure(body, 'the answer has no ranking') }
}

function toCount(value: unknown): number | undefined {
  return isCount(value) ? value : undefined
}
