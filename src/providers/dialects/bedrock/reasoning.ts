import { CannotExpress } from '../../../core/cannot-express.ts'
import { claudeBound } from '../claude/bound.ts'
import type { ClaudeModel } from '../claude/models.ts'
import { claudeReasoning, thinkingBudget } from '../claude/reasoning.ts'
import type { Raw } from '../openai/messages.ts'
import type { OpenAiRequest, ReasoningEffort } from '../openai/request.ts'
import { isObject } from '../openai/usage.ts'
import { heldTo } from '../output-bound.ts'
import type { Drop } from './block.ts'
import type { BedrockModel } from './model.ts'

/** How a model is told to reason, and what follows from it. */
export interface Reasoning {
  /** Members of `additionalModelRequestFields`. */
  readonly fields: object
  /** Claude's `thinking`, which sampling and tool choice depend on. */
  readonly thinking?: Raw | undefined
  /** The limit of the answer; undefined leaves it to the service. */
  readonly maxTokens: number | undefined
}

export interface ReasoningParts {
  readonly request: OpenAiRequest
  readonly model: BedrockModel
  /** The configured bound of the model. */
  readonly most: number | undefined
  readonly drop: Drop
}

/** Each vendor has kept its own word for it, in the additional fields. */
export function converseReasoning(parts: ReasoningParts): Reasoning {
  const { request, model, most, drop } = parts
  if (model.claude) return thinkingOf(parts, model.claude)
  const { reasoningEffort: effort } = request
  const maxTokens = heldTo(most, request.maxTokens)
  if (effort === undefined) return { fields: {}, maxTokens }
  switch (model.reasoning) {
    case 'reasoning_effort':
      return { fields: { reasoning_effort: threeLevels[effort] }, maxTokens }
    case 'reasoning':
      return { fields: { reasoning: { effort } }, maxTokens }
    case 'reasoning_config':
      // There is no value for none.
      return {
        fields: effort === 'none' ? {} : { reasoning_config: threeLevels[effort] },
        maxTokens,
      }
    case 'nova':
      return novaReasoning(effort, maxTokens, drop)
    case 'claude':
    case undefined:
      if (effort !== 'none') drop('reasoning_effort')
      return { fields: {}, maxTokens }
    default:
      return model.reasoning satisfies never
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

/** At its highest effort Nova refuses a limit. */
function novaReasoning(
  effort: ReasoningEffort,
  maxTokens: number | undefined,
  drop: Drop,
): Reasoning {
  if (effort === 'none') return { fields: { reasoningConfig: { type: 'disabled' } }, maxTokens }
  const maxReasoningEffort = threeLevels[effort]
  const isUnlimited = maxReasoningEffort === 'high'
  if (isUnlimited && maxTokens !== undefined) drop('max_tokens')
  return {
    fields: { reasoningConfig: { type: 'enabled', maxReasoningEffort } },
    maxTokens: isUnlimited ? undefined : maxTokens,
  }
}

/** Room for the answer itself, where thinking has a budget and the client has set no limit. */
const answerTokens = 4096

function thinkingOf({ request, most, drop }: ReasoningParts, claude: ClaudeModel): Reasoning {
  const own = ownThinking(request)
  const { thinking: wanted, effort } = claudeReasoning({ request, own }, claude, drop)
  const { maxTokens, thinking } = claudeBound({
    asked: request.maxTokens,
    otherwise: !own && thinkingBudget(wanted) > 0 ? answerTokens : undefined,
    most,
    thinking: wanted,
    includesThinking: own !== undefined,
  })
  if (wanted && !thinking) drop(own ? 'thinking' : 'reasoning_effort')
  return { fields: { thinking, output_config: effort && { effort } }, thinking, maxTokens }
}

function ownThinking({ raw }: OpenAiRequest): Raw | undefined {
  const { thinking } = raw
  if (thinking === undefined || thinking === null) return undefined
  if (!isObject(thinking)) throw new CannotExpress('thinking: must be an object', 'thinking')
  return thinking
}
