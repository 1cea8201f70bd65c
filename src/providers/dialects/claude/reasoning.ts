import type { Message, Raw } from '../openai/messages.ts'
import type { ReasoningEffort } from '../openai/request.ts'
import { isObject } from '../openai/usage.ts'
import type { ClaudeEffort, ClaudeModel } from './models.ts'

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

/** What an effort means for a model; undefined when the model does not reason. */
export function claudeReasoning(
  effort: ReasoningEffort,
  model: ClaudeModel,
): ClaudeReasoning | undefined {
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
  return typeof budget === 'number' ? budget : 0
}

/**
 * The thinking that an assistant message carries back, block by block as it was given out. A block
 * without its signature would be refused.
 */
export function thinkingBlocks({ raw }: Message): readonly Raw[] {
  const blocks = raw['thinking_blocks']
  return Array.isArray(blocks) ? blocks.filter(isObject).filter(isSigned) : []
}

function isSigned({ type, signature, data }: Raw): boolean {
  const proof = type === 'thinking' ? signature : type === 'redacted_thinking' ? data : undefined
  return typeof proof === 'string' && proof !== ''
}

/**
 * True when the latest tool calls of the conversation come without the thinking that led to them.
 * Thinking by budget is then refused with "Expected `thinking`, but found `tool_use`".
 */
export function lacksThinking(messages: readonly Message[]): boolean {
  const latest = messages.findLast(
    (message) => message.role === 'assistant' && message.calls.length > 0,
  )
  return latest !== undefined && thinkingBlocks(latest).length === 0
}
