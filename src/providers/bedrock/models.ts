import { type ClaudeModel, claudeModel } from '../claude/models.ts'

export type ChoiceType = 'auto' | 'any' | 'tool'

/**
 * The ids of tool calls that a model takes: letters, digits, `_` and `-`; besides these `.` and `:`,
 * which its own ids have; or nine letters and digits.
 */
export type CallIds = 'plain' | 'dotted' | 'short'

/** What a model on Bedrock takes beyond what Converse makes of all of them. */
export interface BedrockModel {
  /** The rules of the Messages API, which hold for a Claude model here too. */
  readonly claude: ClaudeModel | undefined
  readonly takesSampling: boolean
  readonly takesStops: boolean
  /** Where `top_k` stands among the additional fields. */
  readonly topK: 'top_k' | 'inferenceConfig.topK' | undefined
  /** How it is told to reason. */
  readonly reasoning:
    | 'claude'
    | 'nova'
    | 'reasoning_effort'
    | 'reasoning'
    | 'reasoning_config'
    | undefined
  /** The forms of `toolChoice` that it understands. */
  readonly choices: readonly ChoiceType[]
  /** JSON schemas for answers, and `strict` tools. */
  readonly takesSchemas: boolean
  readonly takesCachePoints: boolean
  /** Signed reasoning may be handed back. */
  readonly takesReasoning: boolean
  readonly callIds: CallIds
  /** A forced call is refused unless thinking is turned off in so many words. */
  readonly forcesWithoutThinking: boolean
}

type Facts = Omit<BedrockModel, 'claude' | 'forcesWithoutThinking'>

const every: readonly ChoiceType[] = ['auto', 'any', 'tool']

const plain: Facts = {
  takesSampling: true,
  takesStops: true,
  topK: undefined,
  reasoning: undefined,
  choices: [],
  takesSchemas: false,
  takesCachePoints: false,
  takesReasoning: false,
  callIds: 'plain',
}

const claude: Facts = {
  ...plain,
  topK: 'top_k',
  reasoning: 'claude',
  choices: every,
  takesCachePoints: true,
  takesReasoning: true,
}

const nova: Facts = {
  ...plain,
  topK: 'inferenceConfig.topK',
  choices: every,
  takesCachePoints: true,
}

/**
 * An ARN that does not tell its model: an application profile, a provisioned or imported model.
 * What the client asks for is passed on, so that the service can judge it.
 */
const opaque: Facts = { ...plain, choices: every, takesSchemas: true, takesReasoning: true }

interface Family extends Facts {
  /** Any of these in the model's id makes it one of the family. */
  readonly ids: readonly string[]
}

// By the user guide's pages on Converse, structured output and prompt caching, and by what
// LangChain's client sends, as of November 2026. The first hit counts.
const families: readonly Family[] = [
  {
    // Claude models newer than these refuse `textFormat`.
    ids: ['sonnet-4-5', 'haiku-4-5', 'opus-4-5', 'opus-4-6', 'sonnet-4-6'],
    ...claude,
    takesSchemas: true,
  },
  { ids: ['anthropic.', 'claude'], ...claude },
  { ids: ['nova-2-'], ...nova, reasoning: 'nova' },
  { ids: ['amazon.nova', 'nova-'], ...nova },
  {
    ids: ['mistral-large-3'],
    ...plain,
    callIds: 'short',
    choices: ['auto', 'any'],
    takesSchemas: true,
  },
  { ids: ['mistral-large'], ...plain, callIds: 'short', choices: ['auto', 'any'] },
  { ids: ['magistral', 'ministral', 'voxtral'], ...plain, callIds: 'short', takesSchemas: true },
  { ids: ['mistral.'], ...plain, callIds: 'short' },
  {
    ids: ['llama3-1', 'llama3-2-11b', 'llama3-2-90b', 'llama3-3', 'llama4'],
    ...plain,
    choices: ['auto'],
  },
  {
    ids: ['gpt-oss'],
    ...plain,
    takesStops: false,
    reasoning: 'reasoning_effort',
    takesSchemas: true,
  },
  {
    ids: ['openai.'],
    ...plain,
    takesSampling: false,
    takesStops: false,
    reasoning: 'reasoning',
    takesSchemas: true,
  },
  { ids: ['deepseek.v3'], ...plain, choices: ['any'], takesSchemas: true },
  { ids: ['qwen3'], ...plain, reasoning: 'reasoning_config', takesSchemas: true },
  // Its ids look like `functions.get_temperature:0`.
  { ids: ['moonshot'], ...plain, callIds: 'dotted', takesSchemas: true },
  {
    ids: ['qwen.', 'google.gemma', 'nvidia.nemotron', 'minimax.', 'zai.'],
    ...plain,
    takesSchemas: true,
  },
]

/** Judges a model by its id; where that is an ARN without the model's name, by the client-facing id. */
export function bedrockModel(upstreamId: string, modelId: string): BedrockModel {
  const known = familyOf(upstreamId)
  const isArn = upstreamId.startsWith('arn:')
  const facts = known ?? (isArn ? (familyOf(modelId) ?? opaque) : plain)
  const name = known ? upstreamId : modelId
  return {
    ...facts,
    claude: facts.reasoning === 'claude' ? claudeModel(name) : undefined,
    forcesWithoutThinking: name.includes('sonnet-5'),
  }
}

function familyOf(id: string): Family | undefined {
  const name = id.toLowerCase()
  return families.find(({ ids }) => ids.some((part) => name.includes(part)))
}
