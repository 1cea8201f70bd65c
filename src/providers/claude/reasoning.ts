import type { JsonObject, PastAnswer } from '../canonical/messages.ts'
import type { CanonicalRequest, ReasoningEffort } from '../canonical/request.ts'
import { resolveOutputLimit } from './max-tokens.ts'
import type { ClaudeEffort, ClaudeModel } from './models.ts'
import { lacksThinking } from './thinking-blocks.ts'

/** The reasoning fields of a request, and its output limit, which depends on them. */
export interface ClaudeThinking {
  /** The `thinking` field. */
  readonly thinking: JsonObject | undefined
  /** The level for `output_config.effort`. */
  readonly effort: ClaudeEffort | undefined
  /** Undefined leaves the limit to the service. */
  readonly maxTokens: number | undefined
  /** Why requested thinking is left out: earlier thinking is missing, or the limit is too low. */
  readonly dropReason: 'missing-blocks' | 'no-room' | undefined
}

/** Thinking budgets in tokens: those of LiteLLM for `low` to `high`, doubled for each level above. */
const budgets: Readonly<Record<Exclude<ReasoningEffort, 'none'>, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 2048,
  high: 4096,
  xhigh: 8192,
  max: 16384,
}

export interface ThinkingInput {
  readonly request: CanonicalRequest
  /** The client's own `thinking` object. It is sent verbatim and wins over the effort. */
  readonly clientThinking: JsonObject | undefined
  readonly model: ClaudeModel
  /** Whether an earlier answer goes back with its thinking first. */
  readonly beginsWithThinking: (message: PastAnswer) => boolean
  /** Returns the limit for a request without one; undefined leaves it to the service. */
  readonly defaultMaxTokens: (thinking: JsonObject | undefined) => number | undefined
  /** The model's configured limit. */
  readonly maxOutputTokens: number | undefined
}

/**
 * Decides how the model thinks. A thinking budget is left out where the latest calls came back
 * without their thinking, because the vendor would refuse the request.
 */
export function resolveThinking(input: ThinkingInput): ClaudeThinking {
  const { request, clientThinking, model, defaultMaxTokens, maxOutputTokens } = input
  const translated = translateEffort(request.reasoningEffort, model)
  // Models of compatible servers sign nothing, so they miss nothing.
  const isRefused = (thinking: JsonObject | undefined) =>
    thinking?.['type'] === 'enabled' &&
    model.thinking !== 'none' &&
    lacksThinking(request.messages, input.beginsWithThinking)
  const isClientThinking = clientThinking !== undefined && !isRefused(clientThinking)
  const isTranslatedRefused = isRefused(translated.thinking)
  const isMissing = isRefused(clientThinking) || (!isClientThinking && isTranslatedRefused)
  const fromEffort = isClientThinking || !isTranslatedRefused ? translated : {}
  const wanted = isClientThinking ? clientThinking : fromEffort.thinking
  const { maxTokens, thinking } = resolveOutputLimit({
    requested: request.maxTokens,
    fallback: defaultMaxTokens(wanted),
    maxOutputTokens,
    thinking: wanted,
    includesBudget: clientThinking !== undefined,
  })
  const dropReason = isMissing ? 'missing-blocks' : wanted && !thinking ? 'no-room' : undefined
  return { thinking, effort: fromEffort.effort, maxTokens, dropReason }
}

/** Translates an effort into the fields that the model understands; none if it does not reason. */
function translateEffort(
  effort: ReasoningEffort | undefined,
  model: ClaudeModel,
): { readonly thinking?: JsonObject; readonly effort?: ClaudeEffort } {
  if (effort === undefined || model.thinking === 'none') return {}
  if (effort === 'none') {
    if (model.thinkingOff === 'low') return { effort: 'low' }
    return { thinking: { type: model.thinkingOff } }
  }
  const level = findNearestEffort(effort, model)
  return {
    thinking:
      model.thinking === 'adaptive'
        ? // Newer models omit the text of their thinking unless the request asks for it.
          { type: 'adaptive', display: 'summarized' }
        : { type: 'enabled', budget_tokens: budgets[effort] },
    ...(level !== undefined && { effort: level }),
  }
}

/** Returns the model's level of the same name, or `high` for an effort above its levels. */
function findNearestEffort(
  effort: Exclude<ReasoningEffort, 'none'>,
  { efforts }: ClaudeModel,
): ClaudeEffort | undefined {
  if (efforts.length === 0) return undefined
  const wanted = effort === 'minimal' ? 'low' : effort
  return efforts.includes(wanted) ? wanted : 'high'
}

/** Whether a `thinking` field turns thinking on, in any of its forms. */
export function isThinkingOn(thinking: JsonObject | undefined): boolean {
  return thinking !== undefined && thinking['type'] !== 'disabled'
}
