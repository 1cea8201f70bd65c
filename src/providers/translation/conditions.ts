/** When a cell has another outcome than usual, in the words of the documentation. */
export const conditions = {
  fixedSampling: 'where the model fixes its sampling, or thinks',
  ignoresSampling: 'on 3.5 Flash-Lite and from 3.6 on',
  noReasoning: 'on models that do not reason',
  noWordForNone: 'on Qwen3, which has no word for it',
  thinkingMissing: 'on a budget, after calls whose thinking is missing',
  noRoomToThink: 'where the bound leaves no room to think',
  unboundedReasoning: 'on Nova at its highest effort',
  noSchemas: 'on models without structured output',
  noFormatBesideTools: 'on models before 3.0',
  noForcedCalls: 'on models that cannot be forced, and on a thinking budget',
  noAnyChoice: 'on models that know no such choice',
  noNamedChoice: 'on models that cannot be told a name',
  noAutoChoice: 'on models that know no choices',
  notClaude: 'on models that are not Claude',
  noStops: 'on OpenAI models',
  noTopK: 'on models other than Claude and Nova',
  noPenalties: 'from 2.5 on, but not on `vertex_ai`',
  oneAnswer: 'from 3.0 on',
  noTiers: 'on `vertex_ai`',
  textResults: 'on models before 3.0',
  fetchedByGoogle: 'with `remote_images`',
  noThinkingBlocks: 'on models that take none back',
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

/** Whether each condition of a family holds, for one link and request. */
export type ConditionFlags<Named extends Condition> = Readonly<Record<Named, boolean>>
