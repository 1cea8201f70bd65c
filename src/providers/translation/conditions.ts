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
  noSearchBesideTools: 'on models before 3.0',
  noGrounding: 'on models other than Nova 2',
  noPenalties: 'on 2.5 and later, except on `vertex_ai`',
  oneAnswer: 'on 3.0 and later',
  noTiers: 'on `vertex_ai`',
  hasLabels: 'on `vertex_ai`',
  textResults: 'on models before 3.0',
  fetchedByGoogle: 'with `remote_images`',
  noThinkingBlocks: 'on models that do not accept thinking blocks',
  noCacheMarks: 'on models other than Claude and Nova',
  noResultStatus: 'on models other than Claude and Nova',
  noResultMedia: 'on models other than Claude and Nova',
} as const

export type Condition = keyof typeof conditions

const claudeConditions = [
  'fixedSampling',
  'noReasoning',
  'thinkingMissing',
  'noRoomToThink',
  'noSchemas',
  'noForcedCalls',
] as const

/**
 * The columns of the translation table, one for each API of a translated kind, with the conditions that
 * their cells may use. This is the only list of them.
 */
export const apiConditions = {
  anthropic: claudeConditions,
  /** The kinds `google` and `vertex_ai`. */
  gemini: [
    'ignoresSampling',
    'noReasoning',
    'noFormatBesideTools',
    'noSearchBesideTools',
    'noPenalties',
    'oneAnswer',
    'noTiers',
    'hasLabels',
    'textResults',
    'fetchedByGoogle',
  ],
  bedrock: [
    ...claudeConditions,
    'noWordForNone',
    'unboundedReasoning',
    'noAnyChoice',
    'noNamedChoice',
    'noAutoChoice',
    'notClaude',
    'noStops',
    'noTopK',
    'noThinkingBlocks',
    'noCacheMarks',
    'noGrounding',
    'noResultStatus',
    'noResultMedia',
  ],
  cohere: [],
} as const satisfies Readonly<Record<string, readonly Condition[]>>

export type ApiFamily = keyof typeof apiConditions

/** The conditions that the cells of an API may use. */
export type ApiCondition<Api extends ApiFamily> = (typeof apiConditions)[Api][number]

/** Whether each condition of an API holds, for one link and request. */
export type ConditionFlags<Api extends ApiFamily> = Readonly<Record<ApiCondition<Api>, boolean>>

/** The APIs, which are the keys of the constant, in the order of the columns. */
export const apiFamilies = Object.keys(apiConditions) as readonly ApiFamily[]

/** Creates a record with a value for each API. */
export function mapApiFamilies<Value>(
  create: (api: ApiFamily) => Value,
): Readonly<Record<ApiFamily, Value>> {
  // Every API has an entry.
  return Object.fromEntries(apiFamilies.map((api) => [api, create(api)])) as Record<
    ApiFamily,
    Value
  >
}
