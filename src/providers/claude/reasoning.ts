import type { JsonObject } from '../../wire/json/parse.ts'
import { listLostWish } from '../canonical/lost-wish.ts'
import type { PastAnswer } from '../canonical/messages.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { resolveOutputLimit } from './max-tokens.ts'
import type { ClaudeEffort, ClaudeModel } from './models.ts'
import { lacksThinking } from './thinking-blocks.ts'
import { listThinkingChoices, type ThinkingChoice } from './thinking-choices.ts'

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
  /** The path of a wish of another API that cannot be said. */
  readonly dropped: readonly string[]
}

export interface ThinkingInput {
  readonly request: CanonicalRequest
  /** The `thinking` object of the request. That of a chat client is sent verbatim, and wins over the effort. */
  readonly own: JsonObject | undefined
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
  const { request, own, model, defaultMaxTokens, maxOutputTokens } = input
  const { choices, isWithinLimit, mayShrink, isUnsaid } = listThinkingChoices(request, own, model)
  // Models of compatible servers sign nothing, so they miss nothing.
  const isRefused = ({ thinking }: ThinkingChoice) =>
    thinking?.['type'] === 'enabled' &&
    model.thinking !== 'none' &&
    lacksThinking(request.messages, input.beginsWithThinking)
  const [first = {}, ...others] = choices
  const isMissing = isRefused(first)
  const other = isMissing ? others.find((choice) => !isRefused(choice)) : undefined
  const { thinking: wanted, effort } = isMissing ? (other ?? {}) : first
  const { maxTokens, thinking } = resolveOutputLimit({
    requested: request.maxTokens,
    fallback: defaultMaxTokens(wanted),
    maxOutputTokens,
    thinking: wanted,
    isWithinLimit,
    mayShrink,
  })
  // Another choice says the wish of another API. A chat client's own object is lost with the first choice.
  const isReplaced = request.isMade && other !== undefined
  const isNarrow = wanted !== undefined && !thinking
  const dropReason = isMissing && !isReplaced ? 'missing-blocks' : isNarrow ? 'no-room' : undefined
  const dropped = isUnsaid || (dropReason && !thinking) ? listLostWish(request) : []
  return { thinking, effort, maxTokens, dropReason, dropped }
}

/** Whether a `thinking` field turns thinking on, in any of its forms. */
export function isThinkingOn(thinking: JsonObject | undefined): boolean {
  return thinking !== undefined && thinking['type'] !== 'disabled'
}
