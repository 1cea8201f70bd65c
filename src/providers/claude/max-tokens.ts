import { isCount } from '../../core/usage.ts'
import type { JsonObject } from '../canonical/messages.ts'
import { clampBound } from '../shared/output-bound.ts'

/** How much a Claude model may write, its thinking included. */
export interface ClaudeBound {
  /** Undefined leaves it to the service. */
  readonly maxTokens: number | undefined
  /** The `thinking` field as it fits; undefined also where there is no room to think. */
  readonly thinking: JsonObject | undefined
}

export interface ClaudeBoundParts {
  /** The client's bound. */
  readonly asked: number | undefined
  /** Stands in for the client's bound; undefined: nothing does. */
  readonly otherwise: number | undefined
  /** The model's own bound, which goes before `otherwise`. */
  readonly most: number | undefined
  readonly thinking: JsonObject | undefined
  /** The client speaks of budgets itself, so its bound includes its thinking. */
  readonly includesThinking: boolean
}

/** Thinking counts against the bound, so its budget comes on top of what the client wants to read. */
export function claudeBound({
  asked,
  otherwise,
  most,
  thinking,
  includesThinking,
}: ClaudeBoundParts): ClaudeBound {
  const text = asked ?? (otherwise === undefined ? undefined : (most ?? otherwise))
  if (text === undefined) return { maxTokens: undefined, thinking }
  const isWhole = includesThinking && asked !== undefined
  const wanted = isWhole ? text : text + thinkingBudget(thinking)
  const maxTokens = clampBound(most, wanted) ?? wanted
  return { maxTokens, thinking: maxTokens < wanted ? fitted(thinking, maxTokens) : thinking }
}

/** The least that the vendor takes for a budget. */
const leastBudget = 1024

/** Of a bound that was lowered, thinking gets half at most: a budget has to stay below the bound. */
function fitted(thinking: JsonObject | undefined, maxTokens: number): JsonObject | undefined {
  const half = Math.floor(maxTokens / 2)
  if (thinkingBudget(thinking) <= half) return thinking
  if (maxTokens <= leastBudget) return undefined
  return { ...thinking, budget_tokens: Math.max(leastBudget, half) }
}

/** The tokens set apart for thinking: they count against the limit of the answer. */
export function thinkingBudget(thinking: JsonObject | undefined): number {
  const budget = thinking?.['type'] === 'enabled' ? thinking['budget_tokens'] : 0
  // The client may have written anything; what is no count is for the vendor to refuse.
  return isCount(budget) ? budget : 0
}
