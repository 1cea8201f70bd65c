import * as z from 'zod'
import type { RerankResult } from '../../core/provider.ts'
import type { Ranking } from '../../core/rerank.ts'
import { isCount, parsePromptCount } from '../../core/usage.ts'
import { isObject } from '../../wire/json.ts'
import { extractMessage } from './error-message.ts'
import { toVendorError } from './vendor-error.ts'

/** The place of a document in the call. */
export const documentIndex = z.int().nonnegative()

/** A result as Cohere writes it, and most others after it. */
export const relevanceEntry = z
  .looseObject({ index: documentIndex, relevance_score: z.number() })
  .transform(({ index, relevance_score: score }): Ranking => ({ index, score }))

/** A result with a plain `score`. */
export const scoreEntry = z
  .looseObject({ index: documentIndex, score: z.number() })
  .transform(({ index, score }): Ranking => ({ index, score }))

/** The token count of an answer. */
export const totalTokens = z
  .looseObject({ total_tokens: z.unknown().optional() })
  .nullish()
  .catch(undefined)

/** What a vendor says of its own bill, as it stands in the answer. */
interface ReportedBill {
  readonly searchUnits?: unknown
  readonly tokens?: unknown
}

/** An answer that has been understood. */
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

/** An answer that is not what the API promises, with the vendor's own words where it has some. */
export function toRerankFailure(body: unknown): RerankResult {
  const isError = isObject(body) && (body['error'] !== undefined || body['errors'] !== undefined)
  const detail = 'it holds no ranking'
  if (!isError) return { ok: false, failure: { kind: 'malformed', detail } }
  const says = `${detail}: ${extractMessage(body)}`
  return { ok: false, failure: { kind: 'malformed', detail: says, vendor: toVendorError(body) } }
}

function toCount(value: unknown): number | undefined {
  return isCount(value) ? value : undefined
}
