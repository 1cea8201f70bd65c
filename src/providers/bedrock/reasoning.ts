import { UntranslatableError } from '../../core/untranslatable-error.ts'
import { isObject } from '../../wire/json.ts'
import type { JsonObject } from '../canonical/messages.ts'
import type { CanonicalRequest, ReasoningEffort } from '../canonical/request.ts'
import { thinkingBudget } from '../claude/max-tokens.ts'
import type { ClaudeModel } from '../claude/models.ts'
import { type ClaudeThinking, claudeThinking } from '../claude/reasoning.ts'
import { clampBound } from '../shared/output-bound.ts'
import type { BedrockModel } from './models.ts'

/** How a model is told to reason, and what follows from it. */
export interface Reasoning {
  /** Members of `additionalModelRequestFields`. */
  readonly fields: object
  /** Claude's `thinking`, which sampling and tool choice depend on. */
  readonly thinking?: JsonObject | undefined
  /** The limit of the answer; undefined leaves it to the service. */
  readonly maxTokens: number | undefined
  /** Why thinking that was asked for is left out. */
  readonly lost?: ClaudeThinking['lost']
  /** No limit may be set beside it. */
  readonly isUnbounded: boolean
}

export interface ReasoningParts {
  readonly request: CanonicalRequest
  readonly model: BedrockModel
  /** The configured bound of the model. */
  readonly most: number | undefined
}

/** Each vendor has kept its own word for it, in the additional fields. */
export function converseReasoning(parts: ReasoningParts): Reasoning {
  const { request, model, most } = parts
  if (model.claude) return thinkingOf(parts, model.claude)
  const { reasoningEffort: effort } = request
  const fields = effort === undefined ? {} : effortFields(effort, model)
  // At its highest effort Nova refuses a limit.
  const isUnbounded = model.reasoning === 'nova' && effort !== undefined && isHigh(effort)
  const maxTokens = isUnbounded ? undefined : clampBound(most, request.maxTokens)
  return { fields, maxTokens, isUnbounded }
}

function isHigh(effort: ReasoningEffort): boolean {
  return threeLevels[effort] === 'high'
}

function effortFields(effort: ReasoningEffort, { reasoning }: BedrockModel): object {
  const level = threeLevels[effort]
  switch (reasoning) {
    case 'reasoning_effort':
      return { reasoning_effort: level }
    case 'reasoning':
      return { reasoning: { effort } }
    case 'reasoning_config':
      // There is no value for none.
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

/** The nearest of three levels, for models that cannot do without reasoning. */
const threeLevels: Readonly<Record<ReasoningEffort, 'low' | 'medium' | 'high'>> = {
  none: 'low',
  minimal: 'low',
  low: 'low',
  medium: 'medium',
  high: 'high',
  xhigh: 'high',
  max: 'high',
}

/** Room for the answer itself, where thinking has a budget and the client has set no limit. */
const answerTokens = 4096

function thinkingOf({ request, most }: ReasoningParts, model: ClaudeModel): Reasoning {
  const own = ownThinking(request)
  const { thinking, effort, maxTokens, lost } = claudeThinking({
    request,
    own,
    model,
    otherwise: (wanted) => (!own && thinkingBudget(wanted) > 0 ? answerTokens : undefined),
    most,
  })
  const fields = { thinking, output_config: effort && { effort } }
  return { fields, thinking, maxTokens, lost, isUnbounded: false }
}

function ownThinking({ raw }: CanonicalRequest): JsonObject | undefined {
  const { thinking } = raw
  if (thinking === undefined || thinking === null) return undefined
  if (!isObject(thinking)) throw new UntranslatableError('thinking: must be an object', 'thinking')
  return thinking
}
