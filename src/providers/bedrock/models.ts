import { type ClaudeModel, findClaudeModel } from '../claude/models.ts'
import type { ClaudeToolChoice } from '../claude/tool-choice.ts'

/**
 * The form of tool call ids that a model accepts. `plain`: letters, digits, `_` and `-`; `dotted`: also
 * `.` and `:`, which its own ids contain; `short`: nine letters or digits.
 */
export type ToolUseIdForm = 'plain' | 'dotted' | 'short'

/** What a model on Bedrock accepts, where the models that Converse serves differ. */
export interface BedrockModel {
  /** The rules of the Messages API for a Claude model, which also hold on Bedrock. */
  readonly claude: ClaudeModel | undefined
  readonly hasSampling: boolean
  readonly hasStopSequences: boolean
  /** The path of `top_k` in the additional fields. */
  readonly topK: 'top_k' | 'inferenceConfig.topK' | undefined
  /** The name of its reasoning field, or the vendor whose fields it has. */
  readonly reasoning:
    | 'claude'
    | 'nova'
    | 'reasoning_effort'
    | 'reasoning'
    | 'reasoning_config'
    | undefined
  /** The types of `toolChoice` that it accepts. */
  readonly choices: readonly ClaudeToolChoice['type'][]
  /** Whether it enforces JSON schemas for answers, and `strict` tools. */
  readonly hasSchemas: boolean
  readonly hasCachePoints: boolean
  /** It searches the web with the system tool `nova_grounding`. */
  readonly hasGrounding: boolean
  /** Whether a tool result may say that the call failed. */
  readonly hasResultStatus: boolean
  /**
   * Whether a tool result may hold images.
   * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ToolResultContentBlock.html
   */
  readonly hasResultMedia: boolean
  /** Whether it accepts its signed reasoning back. */
  readonly hasSignedReasoning: boolean
  readonly toolUseIdForm: ToolUseIdForm
  /** Whether a forced call requires that the request turns thinking off. */
  readonly mustDisableThinkingToForce: boolean
}

type Facts = Omit<BedrockModel, 'claude' | 'mustDisableThinkingToForce'>

const allChoices: readonly ClaudeToolChoice['type'][] = ['auto', 'any', 'tool']

const plain: Facts = {
  hasSampling: true,
  hasStopSequences: true,
  topK: undefined,
  reasoning: undefined,
  choices: [],
  hasSchemas: false,
  hasCachePoints: false,
  hasGrounding: false,
  hasResultStatus: false,
  hasResultMedia: false,
  hasSignedReasoning: false,
  toolUseIdForm: 'plain',
}

const claude: Facts = {
  ...plain,
  topK: 'top_k',
  reasoning: 'claude',
  choices: allChoices,
  hasCachePoints: true,
  hasResultStatus: true,
  hasResultMedia: true,
  hasSignedReasoning: true,
}

const nova: Facts = {
  ...plain,
  topK: 'inferenceConfig.topK',
  choices: allChoices,
  hasCachePoints: true,
  hasResultStatus: true,
  hasResultMedia: true,
}

/**
 * A model behind an ARN that does not name it: of an application profile, a provisioned or an imported
 * model. Tool choices, schemas and signed reasoning are sent, and the service accepts or rejects them.
 */
const opaque: Facts = { ...plain, choices: allChoices, hasSchemas: true, hasSignedReasoning: true }

interface Family extends Facts {
  /** A model belongs to the family if its id contains one of these. */
  readonly ids: readonly string[]
}

/**
 * The model families; the first match counts. As of November 2026, from what LangChain's client sends and from
 * https://docs.aws.amazon.com/bedrock/latest/userguide/conversation-inference-supported-models-features.html,
 * https://docs.aws.amazon.com/bedrock/latest/userguide/structured-output.html and
 * https://docs.aws.amazon.com/bedrock/latest/userguide/prompt-caching.html
 */
const families: readonly Family[] = [
  {
    // Newer Claude models reject `textFormat`.
    ids: ['sonnet-4-5', 'haiku-4-5', 'opus-4-5', 'opus-4-6', 'sonnet-4-6'],
    ...claude,
    hasSchemas: true,
  },
  { ids: ['anthropic.', 'claude'], ...claude },
  { ids: ['nova-2-'], ...nova, reasoning: 'nova', hasGrounding: true },
  { ids: ['amazon.nova', 'nova-'], ...nova },
  {
    ids: ['mistral-large-3'],
    ...plain,
    toolUseIdForm: 'short',
    choices: ['auto', 'any'],
    hasSchemas: true,
  },
  { ids: ['mistral-large'], ...plain, toolUseIdForm: 'short', choices: ['auto', 'any'] },
  {
    ids: ['magistral', 'ministral', 'voxtral'],
    ...plain,
    toolUseIdForm: 'short',
    hasSchemas: true,
  },
  { ids: ['mistral.'], ...plain, toolUseIdForm: 'short' },
  {
    ids: ['llama3-1', 'llama3-2-11b', 'llama3-2-90b', 'llama3-3', 'llama4'],
    ...plain,
    choices: ['auto'],
  },
  {
    ids: ['gpt-oss'],
    ...plain,
    hasStopSequences: false,
    reasoning: 'reasoning_effort',
    hasSchemas: true,
  },
  {
    ids: ['openai.'],
    ...plain,
    hasSampling: false,
    hasStopSequences: false,
    reasoning: 'reasoning',
    hasSchemas: true,
  },
  { ids: ['deepseek.v3'], ...plain, choices: ['any'], hasSchemas: true },
  { ids: ['qwen3'], ...plain, reasoning: 'reasoning_config', hasSchemas: true },
  // Its own ids look like `functions.get_temperature:0`.
  { ids: ['moonshot'], ...plain, toolUseIdForm: 'dotted', hasSchemas: true },
  {
    ids: ['qwen.', 'google.gemma', 'nvidia.nemotron', 'minimax.', 'zai.'],
    ...plain,
    hasSchemas: true,
  },
]

/** Finds a model by its id, or by the client-facing id where the id is an ARN that does not name it. */
export function findBedrockModel(upstreamId: string, modelId: string): BedrockModel {
  const known = findFamily(upstreamId)
  const isArn = upstreamId.startsWith('arn:')
  const facts = known ?? (isArn ? (findFamily(modelId) ?? opaque) : plain)
  const name = known ? upstreamId : modelId
  return {
    ...facts,
    claude: facts.reasoning === 'claude' ? findClaudeModel(name) : undefined,
    mustDisableThinkingToForce: name.includes('sonnet-5'),
  }
}

function findFamily(id: string): Family | undefined {
  const name = id.toLowerCase()
  return families.find(({ ids }) => ids.some((part) => name.includes(part)))
}
