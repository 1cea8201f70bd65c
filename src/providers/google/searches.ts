import { isObject } from '../../wire/json/parse.ts'
import { toGeneration } from './models.ts'

interface Grounded {
  readonly groundingMetadata?: unknown
}

/**
 * Counts the searches of the web that an answer is billed for, undefined for none: from Gemini 3 on each query, before it the prompt.
 * https://ai.google.dev/gemini-api/docs/pricing
 */
export function countSearches(
  candidates: readonly Grounded[],
  generation: number,
): number | undefined {
  const queries = candidates.reduce((sum, candidate) => sum + countQueries(candidate), 0)
  if (queries === 0) return undefined
  return generation >= firstByQuery ? queries : 1
}

const firstByQuery = toGeneration(3)

function countQueries({ groundingMetadata: grounding }: Grounded): number {
  const queries = isObject(grounding) ? grounding['webSearchQueries'] : undefined
  return Array.isArray(queries) ? queries.length : 0
}
