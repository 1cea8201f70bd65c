import type { Environment } from '../../../src/index.ts'

/** A vendor whose key is usually in a variable of a known name. */
export interface WellKnown {
  /** The names of the variable, the most common one first. */
  readonly variables: readonly [string, ...string[]]
  /** The name of the provider, which is also its kind. */
  readonly kind: string
  readonly models: readonly WellKnownModel[]
}

export interface WellKnownModel {
  readonly id: string
  /** The vendor's name of the model, if it is another one. */
  readonly upstreamId?: string
  /** `chat` by default. */
  readonly capability?: 'embed' | 'rerank'
  readonly takesImages?: true
}

/** The vendors for which `init` writes a provider, with models of theirs. */
export const wellKnown: readonly WellKnown[] = [
  // https://platform.openai.com/docs/models
  {
    variables: ['OPENAI_API_KEY'],
    kind: 'openai',
    models: [
      { id: 'gpt-5', takesImages: true },
      { id: 'gpt-5-mini', takesImages: true },
      { id: 'gpt-4o-mini', takesImages: true },
      { id: 'text-embedding-3-small', capability: 'embed' },
    ],
  },
  // https://docs.claude.com/en/docs/about-claude/models/overview
  {
    variables: ['ANTHROPIC_API_KEY'],
    kind: 'anthropic',
    models: [
      { id: 'claude-sonnet-4-5', takesImages: true },
      { id: 'claude-haiku-4-5', takesImages: true },
    ],
  },
  // https://ai.google.dev/gemini-api/docs/models
  {
    variables: ['GEMINI_API_KEY', 'GOOGLE_API_KEY'],
    kind: 'google',
    models: [
      { id: 'gemini-2.5-pro', takesImages: true },
      { id: 'gemini-2.5-flash', takesImages: true },
      { id: 'gemini-embedding-001', capability: 'embed' },
    ],
  },
  // https://docs.mistral.ai/getting-started/models/models_overview/
  {
    variables: ['MISTRAL_API_KEY'],
    kind: 'mistral',
    models: [
      { id: 'mistral-large-latest' },
      { id: 'mistral-small-latest' },
      { id: 'mistral-embed', capability: 'embed' },
    ],
  },
  // https://api-docs.deepseek.com/quick_start/pricing
  {
    variables: ['DEEPSEEK_API_KEY'],
    kind: 'deepseek',
    models: [{ id: 'deepseek-v4-pro' }, { id: 'deepseek-v4-flash' }],
  },
  // https://platform.moonshot.ai/docs/pricing/chat
  { variables: ['MOONSHOT_API_KEY'], kind: 'moonshot', models: [{ id: 'kimi-k3' }] },
  // https://docs.z.ai/guides/overview/quick-start
  { variables: ['ZAI_API_KEY'], kind: 'zai', models: [{ id: 'glm-5.3' }] },
  // https://platform.minimax.io/docs/guides/models-intro
  {
    variables: ['MINIMAX_API_KEY'],
    kind: 'minimax',
    models: [{ id: 'minimax-m3', upstreamId: 'MiniMax-M3' }],
  },
  // https://www.alibabacloud.com/help/en/model-studio/models
  { variables: ['DASHSCOPE_API_KEY'], kind: 'dashscope', models: [{ id: 'qwen3.7-max' }] },
  // https://docs.x.ai/docs/models
  { variables: ['XAI_API_KEY'], kind: 'xai', models: [{ id: 'grok-4', takesImages: true }] },
  // https://console.groq.com/docs/models
  {
    variables: ['GROQ_API_KEY'],
    kind: 'groq',
    models: [{ id: 'groq-gpt-oss-120b', upstreamId: 'openai/gpt-oss-120b' }],
  },
  // https://inference-docs.cerebras.ai/models/overview
  {
    variables: ['CEREBRAS_API_KEY'],
    kind: 'cerebras',
    models: [{ id: 'cerebras-gpt-oss-120b', upstreamId: 'gpt-oss-120b' }],
  },
  // https://docs.together.ai/docs/serverless-models
  {
    variables: ['TOGETHER_API_KEY'],
    kind: 'together',
    models: [{ id: 'together-gpt-oss-120b', upstreamId: 'openai/gpt-oss-120b' }],
  },
  // https://openrouter.ai/docs/features/model-routing
  {
    variables: ['OPENROUTER_API_KEY'],
    kind: 'openrouter',
    models: [{ id: 'openrouter-auto', upstreamId: 'openrouter/auto' }],
  },
  // https://docs.perplexity.ai/getting-started/models
  {
    variables: ['PERPLEXITY_API_KEY'],
    kind: 'perplexity',
    models: [{ id: 'sonar' }, { id: 'sonar-pro' }],
  },
  // https://docs.cohere.com/docs/models
  {
    variables: ['CO_API_KEY', 'COHERE_API_KEY'],
    kind: 'cohere',
    models: [
      { id: 'command-a-03-2025' },
      { id: 'embed-v4.0', capability: 'embed' },
      { id: 'rerank-v3.5', capability: 'rerank' },
    ],
  },
]

/** A vendor whose variable is set. */
export interface FoundVendor extends Omit<WellKnown, 'variables'> {
  readonly variable: string
}

/** Returns the vendors whose variable is set and not empty. */
export function findVendors(env: Environment): readonly FoundVendor[] {
  return wellKnown.flatMap(({ variables, ...vendor }) => {
    const variable = variables.find((name) => env[name]?.trim())
    return variable === undefined ? [] : { ...vendor, variable }
  })
}
