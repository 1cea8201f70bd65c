import {
  carried,
  dropped,
  except,
  ignored,
  inEveryApi,
  mapped,
  type TranslationRows,
} from '../cell.ts'

/** Transport, and fields about the account at the vendor. */
export const account = {
  model: {
    anthropic: mapped('model', 'the upstream id'),
    gemini: mapped(undefined, 'in the address'),
    bedrock: mapped(undefined, 'in the address'),
    cohere: mapped('model', 'the upstream id'),
  },
  stream: {
    anthropic: carried('stream'),
    gemini: mapped(undefined, 'in the address'),
    bedrock: mapped(undefined, 'in the address'),
    cohere: carried('stream'),
  },
  stream_options: inEveryApi(ignored),
  'store: true': inEveryApi(dropped),
  'metadata.user_id': {
    anthropic: carried('metadata.user_id'),
    gemini: ignored,
    bedrock: dropped,
    cohere: ignored,
  },
  'metadata other than user_id': {
    anthropic: dropped,
    gemini: ignored,
    bedrock: dropped,
    cohere: ignored,
  },
  user: {
    anthropic: mapped('metadata.user_id', '`metadata.user_id`, except e-mail addresses'),
    gemini: ignored,
    bedrock: dropped,
    cohere: ignored,
  },
  safety_identifier: {
    anthropic: mapped('metadata.user_id', '`metadata.user_id`, except e-mail addresses'),
    gemini: ignored,
    bedrock: dropped,
    cohere: ignored,
  },
  'service_tier: auto': {
    anthropic: carried('service_tier'),
    gemini: ignored,
    bedrock: ignored,
    cohere: ignored,
  },
  'service_tier: default': {
    anthropic: mapped('service_tier', '`standard_only`'),
    gemini: except(mapped('serviceTier', '`standard`'), { noTiers: ignored }),
    bedrock: mapped('serviceTier.type'),
    cohere: ignored,
  },
  'service_tier: flex, priority': {
    anthropic: dropped,
    gemini: except(mapped('serviceTier'), { noTiers: dropped }),
    bedrock: mapped('serviceTier.type'),
    cohere: dropped,
  },
  'service_tier: standard_only': {
    anthropic: carried('service_tier'),
    gemini: dropped,
    bedrock: dropped,
    cohere: dropped,
  },
  'service_tier with another value': inEveryApi(dropped),
  prompt_cache_key: {
    anthropic: dropped,
    gemini: ignored,
    bedrock: dropped,
    cohere: ignored,
  },
  prompt_cache_retention: {
    anthropic: dropped,
    gemini: ignored,
    bedrock: ignored,
    cohere: ignored,
  },
  prompt_cache_options: inEveryApi(ignored),
  moderation: {
    anthropic: dropped,
    gemini: ignored,
    bedrock: ignored,
    cohere: ignored,
  },
  'a field that is not listed here': inEveryApi(ignored),
} as const satisfies TranslationRows
