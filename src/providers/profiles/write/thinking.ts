import type { ChatRequest } from '../../../core/chat.ts'
import type { Profile } from '../../../core/profile.ts'
import { readWish, type ThinkingWish, toNearestEffort } from '../../../core/thinking-wish.ts'
import { isObject } from '../../../wire/json/parse.ts'

/** The fields for the wish, the paths of what could not be said, and whether the model will think. */
export interface WrittenThinking {
  readonly fields: Readonly<Record<string, unknown>>
  readonly dropped: readonly string[]
  readonly isThinking: boolean
}

/** Says the wish as the upstream reads it. */
export function writeThinking(request: ChatRequest, profile: Profile): WrittenThinking {
  const { thinking, reasoning_effort: effort } = request
  const wish = readWish({
    thinking,
    effort: typeof effort === 'string' && effort !== '' ? effort : undefined,
  })
  switch (wish.kind) {
    case 'unset': {
      // Thinking of a type that only some models of Claude have.
      const dropped = isObject(thinking) ? ['thinking'] : []
      return { fields: {}, dropped, isThinking: profile.thinksByDefault }
    }
    case 'off':
      return writeOff(request, profile)
    case 'on':
      return writeOn(wish, profile)
    default:
      return wish satisfies never
  }
}

function writeOff(request: ChatRequest, profile: Profile): WrittenThinking {
  const { reasoningSwitch, reasoningOff, thinksByDefault } = profile
  const off = reasoningOff ? offFields(profile) : undefined
  if (off) return { fields: off, dropped: [], isThinking: false }
  // Without thinking of its own the model is off already.
  if (!thinksByDefault) return { fields: {}, dropped: [], isThinking: false }
  const least = profile.reasoningEfforts[0]
  const fields =
    least !== undefined && hasEfforts(reasoningSwitch) ? effortFields(least, profile) : {}
  return { fields, dropped: [nameWish(request)], isThinking: true }
}

function offFields({
  reasoningSwitch,
  templateArgument,
}: Profile): WrittenThinking['fields'] | undefined {
  switch (reasoningSwitch) {
    case 'none':
      return undefined
    case 'effort':
      return { reasoning_effort: 'none' }
    case 'thinking':
      return { thinking: { type: 'disabled' } }
    case 'enable_thinking':
      return { enable_thinking: false }
    case 'template':
      return { chat_template_kwargs: { [templateArgument]: false } }
    case 'openrouter':
      return { reasoning: { effort: 'none' } }
    case 'together':
      return { reasoning: { enabled: false } }
    default:
      return reasoningSwitch satisfies never
  }
}

type On = Extract<ThinkingWish, { kind: 'on' }>

function writeOn({ effort, budget }: On, profile: Profile): WrittenThinking {
  const { reasoningSwitch, templateArgument, reasoningEfforts } = profile
  const asked = effort ?? (budget === undefined ? undefined : toNearestEffort(budget))
  const nearest = asked === undefined ? undefined : findNearest(asked, reasoningEfforts)
  const lost =
    effort !== undefined ? ['reasoning_effort'] : budget === undefined ? [] : ['thinking']
  const write = (fields: WrittenThinking['fields'], dropped: readonly string[] = []) => ({
    fields,
    dropped,
    isThinking: true,
  })
  switch (reasoningSwitch) {
    case 'none':
      return { ...write({}, lost), isThinking: profile.thinksByDefault }
    case 'effort':
      return nearest === undefined ? write({}, lost) : write(effortFields(nearest, profile))
    case 'thinking': {
      const hasEffort = effort !== undefined && nearest !== undefined
      if (profile.thinkingBudget && budget !== undefined && !hasEffort) {
        const bound = { thinking: { type: 'enabled', budget_tokens: budget } }
        return write(bound, effort === undefined ? [] : lost)
      }
      const on = { thinking: { type: profile.thinkingOn } }
      return nearest === undefined ? write(on, lost) : write({ ...on, reasoning_effort: nearest })
    }
    case 'enable_thinking': {
      const bound = budget === undefined ? {} : { thinking_budget: budget }
      return write({ enable_thinking: true, ...bound }, budget === undefined ? lost : [])
    }
    case 'template':
      return write({ chat_template_kwargs: { [templateArgument]: true } }, lost)
    case 'openrouter': {
      if (effort === undefined && budget !== undefined) {
        return write({ reasoning: { max_tokens: budget } })
      }
      return write({ reasoning: nearest === undefined ? { enabled: true } : { effort: nearest } })
    }
    case 'together': {
      const on = { reasoning: { enabled: true } }
      return nearest === undefined ? write(on, lost) : write({ ...on, reasoning_effort: nearest })
    }
    default:
      return reasoningSwitch satisfies never
  }
}

function hasEfforts(reasoningSwitch: Profile['reasoningSwitch']): boolean {
  return ['effort', 'thinking', 'openrouter', 'together'].includes(reasoningSwitch)
}

function effortFields(effort: string, { reasoningSwitch }: Profile): WrittenThinking['fields'] {
  return reasoningSwitch === 'openrouter' ? { reasoning: { effort } } : { reasoning_effort: effort }
}

/** The path of the field that says the wish. */
function nameWish({ thinking }: ChatRequest): string {
  return isObject(thinking) ? 'thinking' : 'reasoning_effort'
}

/** From least to most. */
const scale = ['minimal', 'low', 'medium', 'high', 'xhigh', 'max', 'ultra']

/** Returns the accepted effort that is nearest to the asked one, upwards on a tie. */
export function findNearest(asked: string, accepted: readonly string[]): string | undefined {
  if (accepted.includes(asked)) return asked
  const at = scale.indexOf(asked)
  if (at < 0) return undefined
  const distances = accepted.map((word) => Math.abs(scale.indexOf(word) - at))
  const least = Math.min(...distances)
  return accepted.findLast((_, index) => distances[index] === least)
}
