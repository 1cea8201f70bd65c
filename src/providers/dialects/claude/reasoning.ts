import { isCount } from '../../../core/usage.ts'
import type { Raw } from '../openai/messages.ts'
import type { OpenAiRequest, ReasoningEffort } from '../openai/request.ts'
import type { ClaudeEffort, ClaudeModel } from './models.ts'
import { lacksThinking } from './thinking.ts'

/** How a Claude model is told to think. Empty when it is told nothing. */
export interface ClaudeReasoning {
  /** The `thinking` field. */
  readonly thinking?: Raw
  /** The level for `output_config.effort`. */
  readonly effort?: ClaudeEffort
}

/** Tokens to think with, by effort: those that LiteLLM uses, continued upwards. */
const budgets: Readonly<Record<Exclude<ReasoningEffort, 'none'>, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 2048,
  high: 4096,
  xhigh: 8192,
  max: 16384,
}

export interface ReasoningWish {
  readonly request: OpenAiRequest
  /** The client's own `thinking`, verbatim: it says more than an effort can. */
  readonly own: Raw | undefined
}

/**
 * How a model is to think. Thinking by budget is left out where the latest calls lack theirs, since
 * the vendor would refuse it; `drop` gets the name of every field that is not honoured.
 */
export function claudeReasoning(
  { request: { reasoningEffort, messages }, own }: ReasoningWish,
  model: ClaudeModel,
  drop: (field: string) => void,
): ClaudeReasoning {
  // Servers that are merely compatible sign nothing, and miss nothing.
  const signs = model.thinking !== 'none'
  const isRefused = ({ type }: Raw) => signs && type === 'enabled' && lacksThinking(messages)
  const meant = reasoningEffort === undefined ? {} : meaningOf(reasoningEffort, model)
  if (!meant) drop('reasoning_effort')
  if (own && !isRefused(own)) return { ...meant, thinking: own }
  if (own) drop('thinking')
  if (!meant?.thinking || !isRefused(meant.thinking)) return meant ?? {}
  drop('reasoning_effort')
  return {}
}

/** What an effort means for a model; undefined when the model does not reason. */
function meaningOf(effort: ReasoningEffort, model: ClaudeModel): ClaudeReasoning | undefined {
  if (model.thinking === 'none') return effort === 'none' ? {} : undefined
  if (effort === 'none') {
    if (model.thinkingOff === 'low') return { effort: 'low' }
    return { thinking: { type: model.thinkingOff } }
  }
  const level = levelOf(effort, model)
  return {
    thinking:
      model.thinking === 'adaptive'
        ? // Newer models leave the text of their thinking out unless they are asked for it.
          { type: 'adaptive', display: 'summarized' }
        : { type: 'enabled', budget_tokens: budgets[effort] },
    ...(level !== undefined && { effort: level }),
  }
}

/** The effort in the model's own levels: the one of that name, else `high` for what lies above it. */
function levelOf(
  effort: Exclude<ReasoningEffort, 'none'>,
  { efforts }: ClaudeModel,
): ClaudeEffort | undefined {
  if (efforts.length === 0) return undefined
  const wanted = effort === 'minimal' ? 'low' : effort
  return efforts.includes(wanted) ? wanted : 'high'
}

/** The tokens set apart for thinking: they count against the limit of the answer. */
export function thinkingBudget(thinking: Raw | undefined): number {
  const budget = thinking?.['type'] === 'enabled' ? thinking['budget_tokens'] : 0
  // The client may have written anything; what is no count is for the vendor to refuse.
  return isCount(budget) ? budget : 0
}
