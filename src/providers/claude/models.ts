/** What a Claude model accepts. */
export interface ClaudeModel {
  /** Whether `temperature`, `top_p` and `top_k` may differ from their defaults. */
  readonly hasSampling: boolean
  /** `budget`: thinks for a given number of tokens; `adaptive`: decides itself how long to think. */
  readonly thinking: 'adaptive' | 'budget' | 'none'
  /** Whether it accepts a budget of thinking tokens; newer models answer 400 to one. */
  readonly takesBudgets: boolean
  /** How the effort `none` is sent: a type of `thinking`, or the lowest effort if it cannot be off. */
  readonly thinkingOff: 'disabled' | 'between_tools' | 'low'
  /** The levels of `output_config.effort`; empty if the model does not have that field. */
  readonly efforts: readonly ClaudeEffort[]
  /** Whether `tool_choice` may force a call. */
  readonly canForceCalls: boolean
  /** Whether it enforces JSON schemas for answers, and `strict` tools. */
  readonly hasSchemas: boolean
  /** Whether it accepts instructions inside the conversation, after a turn of the user. */
  readonly takesSystemTurns: boolean
  /** The `max_tokens` of a request without a limit, because the Messages API requires one. */
  readonly maxTokens: number
}

export type ClaudeEffort = 'low' | 'medium' | 'high' | 'xhigh' | 'max'

const adaptive: ClaudeModel = {
  hasSampling: false,
  thinking: 'adaptive',
  takesBudgets: false,
  thinkingOff: 'disabled',
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  canForceCalls: true,
  hasSchemas: true,
  takesSystemTurns: false,
  maxTokens: 16384,
}

const newest: ClaudeModel = { ...adaptive, takesSystemTurns: true }

const budget: ClaudeModel = {
  hasSampling: true,
  thinking: 'budget',
  takesBudgets: true,
  thinkingOff: 'disabled',
  efforts: [],
  canForceCalls: true,
  hasSchemas: false,
  takesSystemTurns: false,
  maxTokens: 16384,
}

/** The oldest Claude models, and every model of a compatible server that is not Claude. */
const plain: ClaudeModel = {
  ...budget,
  thinking: 'none',
  takesBudgets: false,
  maxTokens: 4096,
}

interface Family extends ClaudeModel {
  /** A model belongs to the family if its id contains one of these. */
  readonly ids: readonly string[]
}

/**
 * The model families; the first match counts. As of November 2026, from
 * https://platform.claude.com/docs/en/about-claude/models/overview,
 * https://platform.claude.com/docs/en/about-claude/models/migration-guide,
 * https://platform.claude.com/docs/en/build-with-claude/effort,
 * https://platform.claude.com/docs/en/build-with-claude/structured-outputs and
 * https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages
 */
const families: readonly Family[] = [
  { ids: ['sonnet-5-5'], ...newest, thinkingOff: 'between_tools', canForceCalls: false },
  { ids: ['opus-5-5'], ...newest, thinkingOff: 'low', canForceCalls: false },
  { ids: ['haiku-5-5'], ...adaptive },
  {
    ids: ['fable-5-1', 'fable-5-2', 'mythos-5-1', 'mythos-5-2'],
    ...newest,
    thinkingOff: 'low',
    canForceCalls: false,
  },
  { ids: ['fable-5', 'mythos-5'], ...newest, thinkingOff: 'low' },
  { ids: ['opus-5', 'opus-4-8'], ...newest },
  { ids: ['opus-4-7', 'sonnet-5'], ...adaptive },
  {
    ids: ['opus-4-6', 'sonnet-4-6'],
    ...adaptive,
    takesBudgets: true,
    hasSampling: true,
    efforts: ['low', 'medium', 'high', 'max'],
  },
  { ids: ['opus-4-5'], ...budget, efforts: ['low', 'medium', 'high'], hasSchemas: true },
  { ids: ['sonnet-4-5', 'haiku-4-5', 'opus-4-1'], ...budget, hasSchemas: true },
  { ids: ['sonnet-4', 'opus-4', 'claude-3-7'], ...budget },
  { ids: ['claude-3', 'claude-2', 'claude-instant'], ...plain },
  // A Claude model newer than this table is treated like the newest in it.
  { ids: ['claude-'], ...adaptive, thinkingOff: 'low' },
]

/** True for the id of a Claude model, at Anthropic or at a gateway of its API. */
export function isClaude(id: string): boolean {
  return /claude/i.test(id)
}

/** Finds a model by its id, which may have any prefix and date that a cloud or a gateway adds. */
export function findClaudeModel(id: string): ClaudeModel {
  // Some gateways write versions with dots: `claude-sonnet-4.5`.
  const name = id.toLowerCase().replaceAll('.', '-')
  return families.find(({ ids }) => ids.some((part) => name.includes(part))) ?? plain
}
