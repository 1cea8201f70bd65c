import { toNearestEffort } from '../../core/thinking-wish.ts'
import type { JsonObject } from '../../wire/json/parse.ts'
import { clampBound } from '../base/output-bound.ts'
import { listLostWish } from '../canonical/lost-wish.ts'
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
  /** The path of a wish of another API that cannot be said. */
  readonly dropped: readonly string[]
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
  const effort = findEffort(request)
  const fields = effort === undefined ? {} : toEffortFields(effort, model)
  // At its highest effort Nova rejects a limit:
  // https://docs.aws.amazon.com/nova/latest/nova2-userguide/extended-thinking.html
  const isUnbounded =
    model.reasoning === 'nova' && effort !== undefined && threeLevels[effort] === 'high'
  const maxTokens = isUnbounded ? undefined : clampBound(maxOutputTokens, request.maxTokens)
  const dropped = canSay(request, model) ? [] : listLostWish(request)
  return { fields, maxTokens, isUnbounded, dropped }
}

/** Returns the effort that says the wish. An `on` without an amount leaves it to the model, as its default does. */
function findEffort({ thinking: wish }: CanonicalRequest): ReasoningEffort | 'none' | undefined {
  switch (wish.kind) {
    case 'unset':
      return undefined
    case 'off':
      return 'none'
    case 'on':
      return wish.effort ?? (wish.budget === undefined ? undefined : toNearestEffort(wish.budget))
    default:
      return wish satisfies never
  }
}

/** Whether a model takes a wish: all but two are off already, or can be turned off. */
function canSay({ thinking: wish }: CanonicalRequest, { reasoning }: BedrockModel): boolean {
  if (wish.kind === 'off')
    return reasoning !== 'reasoning_effort' && reasoning !== 'reasoning_config'
  return wish.kind === 'on' && (reasoning !== undefined || wish.budget === undefined)
}

function toEffortFields(effort: ReasoningEffort | 'none', { reasoning }: BedrockModel): object {
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
const threeLevels: Readonly<Record<ReasoningEffort | 'none', 'low' | 'medium' | 'high'>> = {
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
  const isOwnForm = own.thinking && !request.isMade
  const { thinking, effort, maxTokens, dropReason, dropped } = resolveThinking({
    request,
    own: own.thinking ?? undefined,
    model,
    beginsWithThinking: (message) => beginsWithThinking(message, bedrockModel),
    defaultMaxTokens: (wanted) =>
      !isOwnForm && readThinkingBudget(wanted) > 0 ? answerTokens : undefined,
    maxOutputTokens,
  })
  const fields = {
    thinking,
    output_config: mergeOutputConfig({ effort }, own.output_config),
    context_management: own.context_management ?? undefined,
    anthropic_beta: listBetas(request, own.anthropic_beta ?? []),
  }
  return { fields, thinking, maxTokens, dropReason, dropped, isUnbounded: false }
}

/**
 * Lists the beta features of a request. Clients of the chat API name them; those of the Messages API do so in a
 * header, which belongs to Anthropic's own API, so the features of their tools are added here.
 */
function listBetas(
  { isMade, vendorTools }: CanonicalRequest,
  own: readonly string[],
): readonly string[] | undefined {
  const needed = isMade
    ? vendorTools.flatMap(({ raw }) => toolBetas[String(raw['type'])] ?? [])
    : []
  const betas = new Set([...own, ...needed])
  return betas.size > 0 ? [...betas] : undefined
}

/**
 * The beta features of the tools that the client runs, by the pages of AWS and the demonstration of Anthropic. Later
 * tools need none: https://github.com/anthropics/anthropic-quickstarts/blob/main/computer-use-demo/computer_use_demo/tools/groups.py,
 * https://docs.aws.amazon.com/bedrock/latest/userguide/computer-use.html and
 * https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-anthropic-claude-messages-tool-use.html
 */
const toolBetas: Readonly<Record<string, string>> = {
  bash_20241022: 'computer-use-2024-10-22',
  computer_20241022: 'computer-use-2024-10-22',
  text_editor_20241022: 'computer-use-2024-10-22',
  bash_20250124: 'computer-use-2025-01-24',
  computer_20250124: 'computer-use-2025-01-24',
  text_editor_20250124: 'computer-use-2025-01-24',
  computer_20251124: 'computer-use-2025-11-24',
  memory_20250818: 'context-management-2025-06-27',
}
