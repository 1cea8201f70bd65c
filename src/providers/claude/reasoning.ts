import type { JsonObject } from '../canonical/messages.ts'
import type { CanonicalRequest, ReasoningEffort } from '../canonical/request.ts'
import { claudeBound } from './max-tokens.ts'
import type { ClaudeEffort, ClaudeModel } from './models.ts'
import { lacksThinking } from './thinking-blocks.ts'

/** How a Claude model is told to think, and how much it may write. */
export interface ClaudeThinking {
  /** The `thinking` field. */
  readonly thinking: JsonObject | undefined
  /** The level for `output_config.effort`. */
  readonly effort: ClaudeEffort | undefined
  /** Undefined leaves it to the service. */
  readonly maxTokens: number | undefined
  /** Why thinking that was asked for is left out. */
  readonly lost: 'missing' | 'no-room' | undefined
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

export interface ThinkingWish {
  readonly request: CanonicalRequest
  /** The client's own `thinking`, verbatim: it says more than an effort can. */
  readonly own: JsonObject | undefined
  readonly model: ClaudeModel
  /** The bound where the client sets none, by how the model thinks; undefined: none. */
  readonly otherwise: (thinking: JsonObject | undefined) => number | undefined
  /** The configured bound of the model. */
  readonly most: number | undefined
}

/**
 * How a model is to think. Thinking by budget is left out where the latest calls lack theirs, since
 * the vendor would refuse it.
 */
export function claudeThinking(wish: ThinkingWish): ClaudeThinking {
  const { request, own, model, otherwise, most } = wish
  const meant = meaningOf(request.reasoningEffort, model)
  // Servers that are merely compatible sign nothing, and miss nothing.
  const isRefused = (thinking: JsonObject | undefined) =>
    thinking?.['type'] === 'enabled' && model.thinking !== 'none' && lacksThinking(request.messages)
  const isOwn = own !== undefined && !isRefused(own)
  const isMissing = isRefused(own) || (!isOwn && isRefused(meant.thinking))
  const meaning = isOwn || !isRefused(meant.thinking) ? meant : {}
  const wanted = isOwn ? own : meaning.thinking
  const { maxTokens, thinking } = claudeBound({
    asked: request.maxTokens,
    otherwise: otherwise(wanted),
    most,
    thinking: wanted,
    includesThinking: own !== undefined,
  })
  const lost = isMissing ? 'missing' : wanted && !thinking ? 'no-room' : undefined
  return { thinking, effort: meaning.effort, maxTokens, lost }
}

/** What an effort means for a model; nothing when the model does not reason. */
function meaningOf(
  effort: ReasoningEffort | undefined,
  model: ClaudeModel,
): { readonly thinking?: JsonObject; readonly effort?: ClaudeEffort } {
  if (effort === undefined || model.thinking === 'none') return {}
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

/** Thinking is asked for in whatever form. */
export function thinks({ thinking }: { readonly thinking?: JsonObject | undefined }): boolean {
  return thinking !== undefined && thinking['type'] !== 'disabled'
}
