import type { ToolCalls } from '../../core/billing.ts'
import { isObject } from '../../wire/json/parse.ts'
import { toGeneration } from './models.ts'
import type { IndexedCandidate } from './response.ts'

type Candidate = Pick<IndexedCandidate, 'index' | 'content' | 'groundingMetadata'>

/** How often Google ran its tools, in the units of its bill; undefined for never. */
export interface BilledTools {
  readonly webSearches: number | undefined
  /** All but the searches of the web. */
  readonly toolCalls: ToolCalls | undefined
}

const firstByQuery = toGeneration(3)

/**
 * Counts the runs of Google's tools in an answer, or in the events of a stream. Searches of the web are billed by the
 * query from Gemini 3 on, and before it by the prompt; Maps by the prompt. Running code costs only tokens.
 * https://ai.google.dev/gemini-api/docs/pricing
 */
export class ToolCounter {
  readonly #generation: number
  /** By candidate: the last event with queries has all of them. */
  readonly #queries = new Map<number, number>()
  #hasMaps = false
  #runs = 0

  constructor(generation: number) {
    this.#generation = generation
  }

  add(candidates: readonly Candidate[]): void {
    for (const { index, content, groundingMetadata: grounding } of candidates) {
      if (isObject(grounding)) this.#addGrounding(index, grounding)
      for (const part of content?.parts ?? []) if (part['executableCode']) this.#runs++
    }
  }

  #addGrounding(
    index: number,
    { webSearchQueries: queries, groundingChunks: chunks }: Record<string, unknown>,
  ): void {
    if (Array.isArray(queries) && queries.length > 0) this.#queries.set(index, queries.length)
    if (Array.isArray(chunks)) {
      this.#hasMaps ||= chunks.some((chunk) => isObject(chunk) && isObject(chunk['maps']))
    }
  }

  get counts(): BilledTools {
    const queries = [...this.#queries.values()].reduce((sum, count) => sum + count, 0)
    return {
      webSearches: queries > 0 && this.#generation < firstByQuery ? 1 : queries || undefined,
      toolCalls:
        this.#hasMaps || this.#runs > 0
          ? {
              ...(this.#runs > 0 && { code_execution: this.#runs }),
              ...(this.#hasMaps && { maps: 1 }),
            }
          : undefined,
    }
  }
}

/** Counts the runs of Google's tools in a whole answer. */
export function countTools(candidates: readonly Candidate[], generation: number): BilledTools {
  const counter = new ToolCounter(generation)
  counter.add(candidates)
  return counter.counts
}
