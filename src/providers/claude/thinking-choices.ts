import { toNearestEffort } from '../../core/thinking-wish.ts'
import type { JsonObject } from '../../wire/json/parse.ts'
import type { CanonicalRequest, ReasoningEffort } from '../canonical/request.ts'
import type { ClaudeEffort, ClaudeModel } from './models.ts'

/** One way to let a model think as a request wants it. */
export interface ThinkingChoice {
  /** The `thinking` field. */
  readonly thinking?: JsonObject | undefined
  /** The level for `output_config.effort`. */
  readonly effort?: ClaudeEffort | undefined
}

export interface ThinkingChoices {
  /** In order; a later one is for a conversation in which the vendor refuses an earlier one. */
  readonly choices: readonly ThinkingChoice[]
  /** The output limit of the request includes its thinking, as in Claude's own API. */
  readonly isWithinLimit: boolean
  /** The gateway has chosen the budget, so it may lower it. */
  readonly mayShrink: boolean
  /** The model cannot do what the `thinking` of another API asks for. */
  readonly isUnsaid: boolean
}

/** Thinking budgets in tokens: those of LiteLLM for `low` to `high`, doubled for each level above. */
const budgets: Readonly<Record<ReasoningEffort, number>> = {
  minimal: 1024,
  low: 1024,
  medium: 2048,
  high: 4096,
  xhigh: 8192,
  max: 16384,
}

/** Lists the ways to say the wish of a request. `own` is its `thinking` object. */
export function listThinkingChoices(
  request: CanonicalRequest,
  own: JsonObject | undefined,
  model: ClaudeModel,
): ThinkingChoices {
  if (own && request.isMade) return translateOwn(request, own, model)
  const translated = translateWish(request, model)
  return {
    // A chat client's own object is sent verbatim, and wins over the effort.
    choices: own ? [{ ...translated, thinking: own }, translated] : [translated],
    isWithinLimit: own !== undefined,
    mayShrink: false,
    isUnsaid: request.isMade && request.thinking.kind === 'off' && cannotStop(model),
  }
}

/** Translates an effort into the fields that the model understands; none if it does not reason. */
function translateWish({ thinking: wish }: CanonicalRequest, model: ClaudeModel): ThinkingChoice {
  if (wish.kind === 'unset' || model.thinking === 'none') return {}
  if (wish.kind === 'off') return turnOff(wish.effort, model)
  const { effort } = wish
  const level = findNearestLevel(effort, model)
  return model.thinking === 'adaptive'
    ? { thinking: adaptive, effort: level }
    : { thinking: toBudget(effort), effort: level }
}

/** Newer models omit the text of their thinking unless the request asks for it. */
const adaptive: JsonObject = Object.freeze({ type: 'adaptive', display: 'summarized' })

/** Without an effort Claude's models think at the effort `high`. */
function toBudget(effort: ReasoningEffort = 'high'): JsonObject {
  return { type: 'enabled', budget_tokens: budgets[effort] }
}

function turnOff(effort: ReasoningEffort | undefined, model: ClaudeModel): ThinkingChoice {
  const { thinkingOff } = model
  if (thinkingOff === 'low') return { effort: 'low' }
  return { thinking: { type: thinkingOff }, effort: findNearestLevel(effort, model) }
}

function cannotStop({ thinking, thinkingOff }: ClaudeModel): boolean {
  return thinking !== 'none' && thinkingOff !== 'disabled'
}

/** Returns the model's level of the same name, or `high` for an effort above its levels. */
function findNearestLevel(
  effort: ReasoningEffort | undefined,
  { efforts }: ClaudeModel,
): ClaudeEffort | undefined {
  if (effort === undefined || efforts.length === 0) return undefined
  const wanted = effort === 'minimal' ? 'low' : effort
  return efforts.includes(wanted) ? wanted : 'high'
}

/** Fits the `thinking` of a client of Claude's API to a model that the client may not have meant. */
function translateOwn(
  request: CanonicalRequest,
  own: JsonObject,
  model: ClaudeModel,
): ThinkingChoices {
  const { thinking: wish } = request
  const given = { isWithinLimit: true, mayShrink: false, isUnsaid: false }
  if (model.thinking === 'none') {
    // `adaptive` leaves it to the model whether it thinks.
    const isUnsaid = wish.kind === 'on' && own['type'] === 'enabled'
    return { ...given, choices: [{}], isUnsaid }
  }
  switch (wish.kind) {
    case 'off':
      return { ...given, choices: [turnOff(wish.effort, model)], isUnsaid: cannotStop(model) }
    case 'unset':
      // A type of its own, which other models refuse.
      return own['type'] === model.thinkingOff
        ? { ...given, choices: [{ thinking: own }] }
        : { ...given, choices: [{}], isUnsaid: true }
    case 'on': {
      const { effort, budget } = wish
      const level = findNearestLevel(effort, model)
      const verbatim = { thinking: own, effort: level }
      if (model.thinking === 'budget') {
        if (own['type'] === 'enabled') return { ...given, choices: [verbatim] }
        const choices = [{ thinking: toBudget(effort), effort: level }]
        return { ...given, choices, mayShrink: true }
      }
      if (own['type'] === 'adaptive') {
        return { ...given, choices: [{ ...verbatim, thinking: { ...adaptive, ...own } }] }
      }
      const asked = effort ?? (budget === undefined ? undefined : toNearestEffort(budget))
      const { display = adaptive['display'] } = own
      const translated = {
        thinking: { ...adaptive, display },
        effort: findNearestLevel(asked, model),
      }
      return { ...given, choices: model.takesBudgets ? [verbatim, translated] : [translated] }
    }
    default:
      return wish satisfies never
  }
}
