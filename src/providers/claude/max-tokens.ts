import { isCount } from '../../core/usage.ts'
import type { JsonObject } from '../../wire/json/parse.ts'
import { clampBound } from '../base/output-bound.ts'

/** The output limit of a request and the thinking that fits into it. */
export interface OutputLimit {
  /** Undefined leaves the limit to the service. */
  readonly maxTokens: number | undefined
  /** The `thinking` field; undefined also where the limit leaves no room to think. */
  readonly thinking: JsonObject | undefined
}

export interface OutputLimitInput {
  /** The client's limit. */
  readonly requested: number | undefined
  /** Replaces a missing client's limit; undefined leaves the limit to the service. */
  readonly fallback: number | undefined
  /** The model's configured limit, which also replaces `fallback`. */
  readonly maxOutputTokens: number | undefined
  readonly thinking: JsonObject | undefined
  /** Whether the client's limit includes its thinking, because it has set the budget itself. */
  readonly isWithinLimit: boolean
  /** Whether a budget within the client's limit may be lowered to fit. */
  readonly mayShrink: boolean
}

/** Adds the thinking budget to the client's limit, because thinking counts against `max_tokens`. */
export function resolveOutputLimit({
  requested,
  fallback,
  maxOutputTokens,
  thinking,
  isWithinLimit,
  mayShrink,
}: OutputLimitInput): OutputLimit {
  const text = requested ?? (fallback === undefined ? undefined : (maxOutputTokens ?? fallback))
  if (text === undefined) return { maxTokens: undefined, thinking }
  const isTotal = isWithinLimit && requested !== undefined
  const total = isTotal ? text : text + readThinkingBudget(thinking)
  const maxTokens = clampBound(maxOutputTokens, total) ?? total
  const isTooMuch = maxTokens < total || (isTotal && mayShrink)
  return { maxTokens, thinking: isTooMuch ? fitBudget(thinking, maxTokens) : thinking }
}

/**
 * The vendor's minimum for `budget_tokens`:
 * https://platform.claude.com/docs/en/build-with-claude/extended-thinking
 */
const minBudget = 1024

/** Gives thinking at most half of a lowered limit: the vendor requires a budget below the limit. */
function fitBudget(thinking: JsonObject | undefined, maxTokens: number): JsonObject | undefined {
  const half = Math.floor(maxTokens / 2)
  if (readThinkingBudget(thinking) <= half) return thinking
  if (maxTokens <= minBudget) return undefined
  return { ...thinking, budget_tokens: Math.max(minBudget, half) }
}

/** Returns the tokens of the thinking budget, 0 if there is none. */
export function readThinkingBudget(thinking: JsonObject | undefined): number {
  const budget = thinking?.['type'] === 'enabled' ? thinking['budget_tokens'] : 0
  // The client's own object may hold any value. The vendor rejects an invalid one.
  return isCount(budget) ? budget : 0
}
