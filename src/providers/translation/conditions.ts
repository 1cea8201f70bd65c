/** The conditions under which a cell has another outcome, worded for the documentation. */
export const conditions = {
  fixedSampling: 'on models with fixed sampling, and while thinking',
  ignoresSampling: 'on 3.5 Flash-Lite, 3.6 and later',
  noReasoning: 'on models without reasoning',
  noWordForNone: 'on Qwen3, which cannot turn reasoning off',
  thinkingMissing: 'with a thinking budget, after calls whose thinking blocks are missing',
  noRoomToThink: 'when the output limit leaves no room for thinking',
  unboundedReasoning: 'on Nova at the highest effort',
  noSchemas: 'on models without structured output',
  noFormatBesideTools: 'on models before 3.0',
  noForcedCalls: 'on models without forced tool calls, and with a thinking budget',
  noAnyChoice: 'on models without the choice `any`',
  noNamedChoice: 'on models that cannot be forced to call a named tool',
  noAutoChoice: 'on models without tool choices',
  notClaude: 'on models other than Claude',
  noStops: 'on OpenAI models',
  noTopK: 'on models other than Claude and Nova',
  noPenalties: 'on 2.5 and later, except on `vertex_ai`',
  oneAnswer: 'on 3.0 and later',
  noTiers: 'on `vertex_ai`',
  textResults: 'on models before 3.0',
  fetchedByGoogle: 'with `remote_images`',
  noThinkingBlocks: 'on models that do not accept thinking blocks',
  noCacheMarks: 'on models other than Claude and Nova',
} as const

export type AnthropicCondition =
  | 'fixedSampling'
  | 'noReasoning'
  | 'thinkingMissing'
  | 'noRoomToThink'
  | 'noSchemas'
  | 'noForcedCalls'

export type GeminiCondition =
  | 'ignoresSampling'
  | 'noReasoning'
  | 'noFormatBesideTools'
  | 'noPenalties'
  | 'oneAnswer'
  | 'noTiers'
  | 'textResults'
  | 'fetchedByGoogle'

export type BedrockCondition =
  | AnthropicCondition
  | 'noWordForNone'
  | 'unboundedReasoning'
  | 'noAnyChoice'
  | 'noNamedChoice'
  | 'noAutoChoice'
  | 'notClaude'
  | 'noStops'
  | 'noTopK'
  | 'noThinkingBlocks'
  | 'noCacheMarks'

export type Condition = keyof typeof conditions

/** Whether each condition of an API holds, for one link and request. */
export type ConditionFlags<Named extends Condition> = Readonly<Record<Named, boolean>>
