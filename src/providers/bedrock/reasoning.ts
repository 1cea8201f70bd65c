import { clampBound } from '../base/output-bound.ts'
import type { JsonObject } from '../canonical/messages.ts'
import type { CanonicalRequest, ReasoningEffort } from '../canonical/request.ts'
import { createOwnReader } from '../canonical/vendor-fields.ts'
import { readThinkingBudget } from '../claude/max-tokens.ts'
import type { ClaudeModel } from '../claude/models.ts'
import { claudeFields, mergeOutputConfig } from '../claude/own-fields.ts'
import { type ClaudeThinking, resolveThinking } from '../claude/reasoning.ts'
import type { BedrockModel } from './models.ts'
import { beginsWithThinking } from './past-content.ts'

/** The reasoning fields of a request, and its output limit, which depends on them. */
export interface BedrockReasoning {
  /** Members of `additionalModelRequestFields`. */
  readonly fields: object
  /** Claude's `thinking` field, on which sampling and tool choice depend. */
  readonly thinking?: JsonObject | undefined
  /** Undefined leaves the limit to the service. */
  readonly maxTokens: number | undefined
  /** Why requested thinking is left out. */
  readonly dropReason?: ClaudeThinking['dropReason']
  /** Whether the model accepts no limit beside this effort. */
  readonly isUnbounded: boolean
}

export interface ReasoningInput {
  readonly request: CanonicalRequest
  readonly model: BedrockModel
  /** The model's configured limit. */
  readonly maxOutputTokens: number | undefined
}

/** Translates the reasoning effort into the additional fields, which each model vendor names differently. */
export function resolveReasoning(input: ReasoningInput): BedrockReasoning {
  const { request, model, maxOutputTokens } = input
  if (model.claude) return resolveClaudeReasoning(input, model.claude)
  const { reasoningEffort: effort } = request
  const fields = effort === undefined ? {} : toEffortFields(effort, model)
  // At its highest effort Nova rejects a limit:
  // https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html
  const isUnbounded =
    model.reasoning === 'nova' && effort !== undefined && threeLevels[effort] === 'high'
  const maxTokens = isUnbounded ? undefined : clampBound(maxOutputTokens, request.maxTokens)
  return { fields, maxTokens, isUnbounded }
}

function toEffortFields(effort: ReasoningEffort, { reasoning }: BedrockModel): object {
  const level = threeLevels[effort]
  switch (reasoning) {
    case 'reasoning_effort':
      return { reasoning_effort: level }
    case 'reasoning':
      return { reasoning: { effort } }
    case 'reasoning_config':
      // The field has no value for `none`.
      return effort === 'none' ? {} : { reasoning_config: level }
    case 'nova':
      return {
        reasoningConfig:
          effort === 'none' ? { type: 'disabled' } : { type: 'enabled', maxReasoningEffort: level },
      }
    case 'claude':
    case undefined:
      return {}
    default:
      return reasoning satisfies never
  }
}

/** The nearest of three levels. Models that cannot turn reasoning off take `none` as `low`. */
const threeLevels: Readonly<Record<ReasoningEffort, 'low' | 'medium' | 'high'>> = {
  none: 'low',
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

const readOwnFields = createOwnReader(claudeFields)

/** Tokens for the answer itself, where thinking has a budget and the client has set no limit. */
const answerTokens = 4096

function resolveClaudeReasoning(
  { request, model: bedrockModel, maxOutputTokens }: ReasoningInput,
  model: ClaudeModel,
): BedrockReasoning {
  const own = readOwnFields(request)
  const clientThinking = own.thinking ?? undefined
  const { thinking, effort, maxTokens, dropReason } = resolveThinking({
    request,
    clientThinking,
    model,
    beginsWithThinking: (message) => beginsWithThinking(message, bedrockModel),
    defaultMaxTokens: (wanted) =>
      !clientThinking && readThinkingBudget(wanted) > 0 ? answerTokens : undefined,
    maxOutputTokens,
  })
  const fields = {
    thinking,
    output_config: mergeOutputConfig({ effort }, own.output_config),
    context_management: own.context_management ?? undefined,
    anthropic_beta: own.anthropic_beta ?? undefined,
  }
  return { fields, thinking, maxTokens, dropReason, isUnbounded: false }
}
