/** What a Claude model accepts and refuses. */
export interface ClaudeModel {
  /** `temperature`, `top_p` and `top_k` may differ from their defaults. */
  readonly sampling: boolean
  /** `budget`: thinks for a number of tokens on demand; `adaptive`: judges for itself how long. */
  readonly thinking: 'adaptive' | 'budget' | 'none'
  /** What is left of thinking when none is wanted; `low`: it cannot be turned off. */
  readonly thinkingOff: 'disabled' | 'between_tools' | 'low'
  /** The levels of `output_config.effort`, where that field exists. */
  readonly efforts: readonly ClaudeEffort[]
  /** `tool_choice` may force a call. */
  readonly forcedTools: boolean
  /** JSON schemas for answers, and `strict` tools. */
  readonly schemas: boolean
  /** Stands in for a limit that the client did not set: the Messages API requires one. */
  readonly maxTokens: number
}

export type ClaudeEffort = 'low' | 'medium' | 'high' | 'xhigh' | 'max'

const adaptive: ClaudeModel = {
  sampling: false,
  thinking: 'adaptive',
  thinkingOff: 'disabled',
  efforts: ['low', 'medium', 'high', 'xhigh', 'max'],
  forcedTools: true,
  schemas: true,
  maxTokens: 16384,
}

const budget: ClaudeModel = {
  sampling: true,
  thinking: 'budget',
  thinkingOff: 'disabled',
  efforts: [],
  forcedTools: true,
  schemas: false,
  maxTokens: 16384,
}

/** The oldest models, and whatever else a compatible server calls its own. */
const plain: ClaudeModel = { ...budget, thinking: 'none', maxTokens: 4096 }

interface Family extends ClaudeModel {
  /** Any of these in the model's id makes it one of the family. */
  readonly ids: readonly string[]
}

// By the vendor's model and migration pages, as of November 2026. The first hit counts.
const families: readonly Family[] = [
  { ids: ['sonnet-5-5'], ...adaptive, thinkingOff: 'between_tools', forcedTools: false },
  { ids: ['opus-5-5'], ...adaptive, thinkingOff: 'low', forcedTools: false },
  { ids: ['haiku-5-5'], ...adaptive },
  {
    ids: ['fable-5-1', 'fable-5-2', 'mythos-5-1', 'mythos-5-2'],
    ...adaptive,
    thinkingOff: 'low',
    forcedTools: false,
  },
  { ids: ['fable-5', 'mythos-5'], ...adaptive, thinkingOff: 'low' },
  { ids: ['opus-5', 'opus-4-7', 'opus-4-8', 'sonnet-5'], ...adaptive },
  {
    ids: ['opus-4-6', 'sonnet-4-6'],
    ...adaptive,
    sampling: true,
    efforts: ['low', 'medium', 'high', 'max'],
  },
  { ids: ['opus-4-5'], ...budget, efforts: ['low', 'medium', 'high'], schemas: true },
  { ids: ['sonnet-4-5', 'haiku-4-5', 'opus-4-1'], ...budget, schemas: true },
  { ids: ['sonnet-4', 'opus-4', 'claude-3-7'], ...budget },
  { ids: ['claude-3', 'claude-2', 'claude-instant'], ...plain },
  // A model newer than this table behaves like the newest of it.
  { ids: ['claude-'], ...adaptive, thinkingOff: 'low' },
]

/** The facts of a model by its id, with whatever prefix and date a cloud or a gateway adds. */
export function claudeModel(id: string): ClaudeModel {
  // Some gateways write versions with dots.
  const name = id.toLowerCase().replaceAll('.', '-')
  return families.find(({ ids }) => ids.some((part) => name.includes(part))) ?? plain
}
