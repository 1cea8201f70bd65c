import type {
  ApiCondition,
  ApiFamily,
  Condition,
} from '../../../src/providers/translation/conditions.ts'

/** A model, and the conditions that hold for all its requests. */
export interface Link {
  readonly kind: string
  readonly upstreamId: string
  readonly holds?: readonly Condition[]
  /** More TOML lines of the model. */
  readonly more?: string
  /** More TOML lines of the provider. */
  readonly settings?: string
  /** Fields that every request to it must have. */
  readonly fields?: object
}

const claude = (upstreamId: string, more: Partial<Link> = {}): Link => ({
  kind: 'anthropic',
  upstreamId,
  ...more,
})
const gemini = (upstreamId: string, holds: readonly Condition[], kind = 'google'): Link => ({
  kind,
  upstreamId,
  holds,
})
const bedrock = (upstreamId: string, more: Partial<Link> = {}): Link => ({
  kind: 'bedrock',
  upstreamId,
  ...more,
})

/** The models of each API. The first one without a condition of a cell shows the usual outcome. */
export const usual: Readonly<Record<ApiFamily, readonly [Link, ...Link[]]>> = {
  anthropic: [claude('claude-sonnet-4-5')],
  gemini: [
    gemini('gemini-2.5-flash', [
      'noPenalties',
      'noFormatBesideTools',
      'noSearchBesideTools',
      'textResults',
    ]),
    gemini('gemini-2.0-flash', [
      'noReasoning',
      'noFormatBesideTools',
      'noSearchBesideTools',
      'textResults',
    ]),
    gemini('gemini-3-flash', ['noPenalties', 'oneAnswer']),
  ],
  bedrock: [
    bedrock('us.anthropic.claude-sonnet-4-5-20250929-v1:0', { holds: ['noGrounding'] }),
    bedrock('us.amazon.nova-2-lite-v1:0'),
  ],
  cohere: [{ kind: 'cohere', upstreamId: 'command-a-03-2025' }],
}

/** A conversation after a call whose thinking blocks are missing. */
const withoutThinking = {
  messages: [
    { role: 'user', content: 'Hi' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'f', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: 'x' },
  ],
}
const noRoom = { more: 'max_output_tokens = 1000' }

/** For each API and condition, a model for which the condition holds. */
export const exceptional: {
  readonly [Api in ApiFamily]: Readonly<Record<ApiCondition<Api>, Link>>
} = {
  anthropic: {
    fixedSampling: claude('claude-opus-4-8'),
    noReasoning: claude('claude-3-5-sonnet-20241022'),
    thinkingMissing: claude('claude-sonnet-4-5', { fields: withoutThinking }),
    noRoomToThink: claude('claude-sonnet-4-5', noRoom),
    noSchemas: claude('claude-sonnet-4-20250514'),
    noForcedCalls: claude('claude-sonnet-5-5'),
  },
  gemini: {
    ignoresSampling: gemini('gemini-3.6-flash', []),
    noReasoning: gemini('gemini-2.0-flash', []),
    noFormatBesideTools: gemini('gemini-2.5-flash', []),
    noSearchBesideTools: gemini('gemini-2.5-flash', []),
    noPenalties: gemini('gemini-2.5-flash', []),
    oneAnswer: gemini('gemini-3-flash', []),
    noTiers: gemini('gemini-2.5-flash', [], 'vertex_ai'),
    hasLabels: gemini('gemini-2.5-flash', [], 'vertex_ai'),
    textResults: gemini('gemini-2.5-flash', []),
    fetchedByGoogle: { ...gemini('gemini-2.5-flash', []), settings: 'remote_images = true' },
  },
  bedrock: {
    fixedSampling: bedrock('us.anthropic.claude-opus-4-8-v1:0'),
    noReasoning: bedrock('mistral.mistral-7b-instruct-v0:2'),
    thinkingMissing: bedrock('us.anthropic.claude-sonnet-4-5-20250929-v1:0', {
      fields: withoutThinking,
    }),
    noRoomToThink: bedrock('us.anthropic.claude-sonnet-4-5-20250929-v1:0', {
      ...noRoom,
      fields: { max_tokens: 1000 },
    }),
    noSchemas: bedrock('us.anthropic.claude-sonnet-4-20250514-v1:0'),
    noForcedCalls: bedrock('us.anthropic.claude-sonnet-5-5-v1:0'),
    noWordForNone: bedrock('qwen.qwen3-32b-v1:0'),
    unboundedReasoning: bedrock('us.amazon.nova-2-lite-v1:0', {
      fields: { reasoning_effort: 'high' },
    }),
    noAnyChoice: bedrock('meta.llama3-1-70b-instruct-v1:0'),
    noNamedChoice: bedrock('mistral.mistral-large-2407-v1:0'),
    noAutoChoice: bedrock('mistral.mistral-7b-instruct-v0:2'),
    notClaude: bedrock('us.amazon.nova-pro-v1:0'),
    noStops: bedrock('openai.gpt-oss-120b-1:0'),
    noTopK: bedrock('meta.llama3-1-70b-instruct-v1:0'),
    noThinkingBlocks: bedrock('us.amazon.nova-pro-v1:0'),
    noCacheMarks: bedrock('meta.llama3-1-70b-instruct-v1:0'),
    noGrounding: bedrock('us.amazon.nova-pro-v1:0'),
    noResultStatus: bedrock('meta.llama3-1-70b-instruct-v1:0'),
    noResultMedia: bedrock('meta.llama3-1-70b-instruct-v1:0'),
  },
  cohere: {},
}
