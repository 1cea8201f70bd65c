import { isObject } from '../../wire/json/parse.ts'
import type { CanonicalRequest } from '../canonical/request.ts'
import { getFieldPath, googleFieldNames, vendorFieldNames } from '../canonical/vendor-fields.ts'
import { clearField, type FeatureUse, type StripFeature } from './feature-use.ts'
import type { Feature } from './table.ts'

/** Finds the features used by the fields of a request, except tools. Default values use no feature. */
export function findFieldUses(request: CanonicalRequest): FeatureUse[] {
  const uses: FeatureUse[] = []
  for (const { field, member, feature, strip } of listRules(request.raw)) {
    const value = request.raw[field]
    if (value === undefined || value === null) continue
    const used = feature(request, value)
    if (!used) continue
    const path = getFieldPath(request, field)
    uses.push({ feature: used, path: member === undefined ? path : `${path}.${member}`, strip })
  }
  return uses
}

/** Lists the rules of the fields that a request has, in the order of `fieldRules`: most requests have few. */
function listRules(raw: object): readonly FieldRule[] {
  const rules: FieldRule[] = []
  for (const field of Object.keys(raw)) {
    const known = rulesByField.get(field)
    if (known) rules.push(...known)
  }
  return rules.sort((one, other) => (ranks.get(one) ?? 0) - (ranks.get(other) ?? 0))
}

interface FieldRule {
  readonly field: string
  /** The member of the field that the rule is about. */
  readonly member?: string
  /** Returns the feature that this value uses; undefined for a default value. */
  readonly feature: (request: CanonicalRequest, value: unknown) => Feature | undefined
  readonly strip?: StripFeature
}

/** Fields whose values all map to one row of the table. */
const plainFields = (...names: readonly (Feature & string)[]): FieldRule[] =>
  names.map((field) => ({ field, feature: () => field }))

/** Fields of one vendor, which are left out of the requests to others. */
const vendorFields = [...vendorFieldNames, ...googleFieldNames].map(
  (field): FieldRule => ({
    field,
    // What a request of another API says of thinking is a wish, which each vendor's translation judges.
    feature: ({ isMade }) => (isMade && field === 'thinking' ? undefined : field),
    strip: ({ raw }) => ({ raw: { ...raw, [field]: undefined } }),
  }),
)

const fieldRules: readonly FieldRule[] = [
  ...vendorFields,
  ...plainFields('max_completion_tokens'),
  {
    field: 'max_tokens',
    feature: ({ raw }) => (raw.max_completion_tokens ? undefined : 'max_tokens'),
  },
  {
    field: 'temperature',
    strip: clearField('temperature'),
    feature: ({ temperature = 1 }) => {
      if (temperature === 1) return 'temperature of 1'
      return temperature > 1 ? 'temperature above 1' : 'temperature'
    },
  },
  {
    field: 'top_p',
    strip: clearField('topP'),
    // Anthropic treats 0.99 and above as the default.
    feature: ({ topP = 1, temperature }) =>
      topP < 0.99
        ? temperature === undefined
          ? 'top_p'
          : 'top_p beside temperature'
        : temperature === undefined
          ? 'top_p of 0.99 and above'
          : 'top_p of 0.99 and above beside temperature',
  },
  { field: 'top_k', strip: clearField('topK'), feature: () => 'top_k' },
  {
    field: 'frequency_penalty',
    strip: clearField('frequencyPenalty'),
    feature: ({ frequencyPenalty = 0 }) =>
      frequencyPenalty === 0
        ? undefined
        : isPenaltyUpTo1(frequencyPenalty)
          ? 'frequency_penalty'
          : 'frequency_penalty below 0 or above 1',
  },
  {
    field: 'presence_penalty',
    strip: clearField('presencePenalty'),
    feature: ({ presencePenalty = 0 }) =>
      presencePenalty === 0
        ? undefined
        : isPenaltyUpTo1(presencePenalty)
          ? 'presence_penalty'
          : 'presence_penalty below 0 or above 1',
  },
  {
    field: 'seed',
    strip: clearField('seed'),
    feature: ({ seed = 0 }) => (seed < 0 ? 'seed below 0' : 'seed'),
  },
  {
    field: 'stop',
    strip: clearField('stop'),
    feature: ({ stop }) => (stop.some((text) => text.trim() !== '') ? 'stop' : undefined),
  },
  {
    field: 'stop',
    strip: ({ stop }) => ({ stop: stop.filter((text) => text.trim() !== '') }),
    feature: ({ stop }) =>
      stop.some((text) => text.trim() === '') ? 'stop that is white space' : undefined,
  },
  {
    field: 'n',
    strip: clearField('n'),
    feature: ({ n }) => (n === 1 ? undefined : 'n above 1'),
  },
  {
    field: 'logit_bias',
    feature: (_, value) =>
      isObject(value) && Object.keys(value).length === 0 ? undefined : 'logit_bias',
  },
  {
    field: 'logprobs',
    strip: clearField('logprobs'),
    feature: ({ logprobs }) => (logprobs ? 'logprobs: true' : undefined),
  },
  {
    field: 'top_logprobs',
    strip: clearField('topLogprobs'),
    feature: ({ topLogprobs, logprobs }) => {
      if (topLogprobs === 0) return undefined
      return logprobs ? 'top_logprobs' : 'top_logprobs without logprobs'
    },
  },
  {
    field: 'response_format',
    strip: clearField('responseFormat'),
    feature: ({ responseFormat: format }) => {
      if (format.kind === 'text') return undefined
      if (format.kind !== 'json_schema') return 'response_format: json_object'
      return format.schema
        ? 'response_format: json_schema'
        : 'response_format: json_schema without a schema'
    },
  },
  {
    field: 'response_format',
    strip: clearField('responseFormat'),
    feature: ({ responseFormat, tools }) =>
      responseFormat.kind !== 'text' && tools.length > 0
        ? 'response_format beside tools'
        : undefined,
  },
  {
    field: 'modalities',
    strip: ({ modalities = [] }) => ({
      modalities: modalities.filter((name) => !isMediaModality(name)),
    }),
    feature: ({ modalities = [] }) =>
      modalities.some(isMediaModality) ? 'modalities: image, audio' : undefined,
  },
  {
    field: 'modalities',
    strip: ({ modalities = [] }) => ({
      modalities: modalities.filter((name) => name === 'text' || isMediaModality(name)),
    }),
    feature: ({ modalities = [] }) =>
      modalities.some((name) => name !== 'text' && !isMediaModality(name))
        ? 'modalities other than text, image, audio'
        : undefined,
  },
  ...plainFields('audio', 'prediction'),
  {
    field: 'verbosity',
    feature: (_, value) => (value === 'medium' ? undefined : 'verbosity other than medium'),
  },
  {
    field: 'web_search_options',
    strip: clearField('webSearch'),
    feature: ({ tools }) =>
      tools.length > 0 ? 'web_search_options beside functions' : 'web_search_options',
  },
  {
    field: 'web_search_options',
    member: 'user_location',
    feature: ({ webSearch }) =>
      webSearch?.user_location ? 'web_search_options.user_location' : undefined,
  },
  {
    field: 'web_search_options',
    member: 'search_context_size',
    feature: ({ webSearch }) =>
      (webSearch?.search_context_size ?? 'medium') === 'medium'
        ? undefined
        : 'web_search_options.search_context_size other than medium',
  },
  {
    field: 'reasoning_effort',
    strip: ({ thinking }) => ({
      thinking: thinking.kind === 'on' ? { ...thinking, effort: undefined } : { kind: 'unset' },
    }),
    feature: ({ thinking }, value) => {
      // The field of another API that turns thinking off wins.
      if (thinking.kind === 'off') return value === 'none' ? 'reasoning_effort: none' : undefined
      if (thinking.kind === 'unset' || thinking.effort === undefined) return undefined
      return thinking.effort === 'high'
        ? 'reasoning_effort: high'
        : 'reasoning_effort: minimal, low, medium, xhigh, max'
    },
  },
  {
    field: 'store',
    feature: (_, value) => (value === false ? undefined : 'store: true'),
  },
  {
    field: 'metadata',
    feature: (_, value) =>
      isObject(value) && value['user_id'] !== undefined ? 'metadata.user_id' : undefined,
  },
  {
    field: 'metadata',
    feature: (_, value) =>
      isObject(value) && Object.keys(value).every((name) => name === 'user_id')
        ? undefined
        : 'metadata other than user_id',
  },
  ...plainFields('user', 'safety_identifier'),
  {
    field: 'service_tier',
    strip: clearField('serviceTier'),
    feature: ({ serviceTier: tier }) => {
      if (tier === 'auto') return 'service_tier: auto'
      if (tier === 'standard_only') return 'service_tier: standard_only'
      if (tier === 'default') return 'service_tier: default'
      return tier === 'flex' || tier === 'priority'
        ? 'service_tier: flex, priority'
        : 'service_tier with another value'
    },
  },
  { field: 'cache_control', feature: () => 'cache_control of the whole request' },
  ...plainFields('prompt_cache_key', 'prompt_cache_retention', 'moderation'),
]

const ranks = new Map(fieldRules.map((rule, rank) => [rule, rank]))
const rulesByField = new Map<string, FieldRule[]>()
for (const rule of fieldRules) {
  rulesByField.set(rule.field, [...(rulesByField.get(rule.field) ?? []), rule])
}

function isPenaltyUpTo1(penalty: number): boolean {
  return penalty > 0 && penalty <= 1
}

/** True for an output modality other than text. */
function isMediaModality(modality: string): boolean {
  return modality === 'image' || modality === 'audio'
}
