import * as z from 'zod'
import { capabilities, modalities } from '../core/capability.ts'
import { clouds } from '../core/cloud-credential.ts'
import { baseUrl, originPath, proxyAddress, webAddress } from './addresses.ts'
import { priceEntry, toolCosts } from './price-schema.ts'
import { profileSetting } from './profile-schema.ts'
import {
  amount,
  delay,
  distinct,
  distinctNonEmpty,
  duration,
  headerText,
  price,
  priceFactor,
  text,
  tierName,
  variableName,
  wholeNumber,
  word,
} from './rules.ts'

const modelSchema = z.strictObject({
  id: headerText,
  /** The vendor's name of the model; `id` by default. */
  upstream_id: text.optional(),
  capabilities: distinctNonEmpty(z.enum(capabilities)).default(['chat']),
  modalities: distinctNonEmpty(z.enum(modalities)).default(['text']),
  /** The model accepts `reasoning_effort`. */
  reasoning: z.boolean().default(false),
  /** How its upstream differs from OpenAI's API. */
  profile: profileSetting.optional(),
  /** Answers may be served from the cache. */
  cache: z.boolean().default(false),
  max_output_tokens: wholeNumber(1, 1_000_000_000).optional(),
  /** What its texts are embedded for, where a request does not say it. */
  input_type: text.optional(),
  /** The items of one upstream call for embeddings. */
  max_batch_size: wholeNumber(1, 16_384).optional(),
  cost_per_1m_input: price.optional(),
  cost_per_1m_output: price.optional(),
  cost_per_1m_reasoning: price.optional(),
  cost_per_1m_cached_input: price.optional(),
  cost_per_1m_cache_write: price.optional(),
  cost_per_1m_cache_write_1h: price.optional(),
  cost_per_1m_cache_write_12h: price.optional(),
  cost_per_1k_searches: price.optional(),
  cost_per_1k_web_searches: price.optional(),
  cost_per_1k_requests: price.optional(),
  tool_costs_per_1k: toolCosts.optional(),
  /** The calls that a reservation counts for a tool of the vendor which a request does not bound. */
  reserve_tool_calls: wholeNumber(0, 1000).default(4),
  /** The tokens that a reservation counts for the result of a call. */
  reserve_tool_tokens: wholeNumber(0, 1_000_000).default(0),
  /** Prices that hold under conditions. */
  prices: z.array(priceEntry).max(100).default([]),
  /** The longest prompt, for requests whose prompt the vendor has stored. */
  max_input_tokens: wholeNumber(1, 1_000_000_000).optional(),
  fallbacks: distinct(z.string()).default([]),
})

/** One entry of `[[providers]]`. The rules of each kind are in `check-kinds.ts`. */
export const providerSchema = z.strictObject({
  name: headerText,
  kind: z.string(),
  api_key_env: variableName.optional(),
  api_key_envs: distinctNonEmpty(variableName).optional(),
  /** The cloud that provides the credential, in place of a key. */
  credentials: z.enum(clouds).optional(),
  aws_profile: text.optional(),
  base_url: baseUrl.optional(),
  /** The full address of the vendor's own Messages API. */
  messages_url: webAddress.optional(),
  health_path: originPath.optional(),
  proxy: proxyAddress.optional(),
  ca_file: text.optional(),
  strict: z.boolean().default(false),
  stream_usage: z
    .union([z.boolean(), z.literal('auto')], { error: 'must be true, false or "auto"' })
    .default('auto'),
  /** How the upstream differs from OpenAI's API. */
  profile: profileSetting.optional(),
  /** The upstream speaks the Responses API. */
  responses: z.boolean().optional(),
  remote_images: z.boolean().default(false),
  /** The client's `input_type` reaches every kind that has such a field. */
  map_input_type: z.boolean().default(false),
  connect_timeout_ms: duration.optional(),
  first_token_timeout_ms: duration.optional(),
  total_timeout_ms: duration.optional(),
  api_version: word.optional(),
  latency_ms: delay.optional(),
  tokens_per_second: amount(0, 1_000_000).optional(),
  failure_rate: amount(0, 1).optional(),
  /** A factor for the prices of tokens of all models. */
  price_multiplier: priceFactor.optional(),
  /** What an absent tier, or `auto`, may become. */
  auto_tier: z.tuple([tierName], tierName).default(['standard']),
  /** The same for the region. */
  auto_geo: z.tuple([tierName], tierName).default(['global']),
  models: z.array(modelSchema).default([]),
})

export type ModelConfig = z.infer<typeof modelSchema>
export type ProviderConfig = z.infer<typeof providerSchema>
