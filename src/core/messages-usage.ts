import type { BillingFacts } from './billing.ts'
import type { CountNames, Usage } from './usage.ts'

/** The names of the counts of the Messages API. The tokens of the cache are not among those of the input. */
export const messagesCounts: CountNames = Object.freeze({
  prompt: ['input_tokens', 'cache_creation_input_tokens', 'cache_read_input_tokens'],
  completion: ['output_tokens'],
  always: [],
})

/** The counters of the Messages API. `input_tokens` excludes tokens read from or written to the cache. */
export interface MessagesUsage {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly output_tokens: number
  readonly output_tokens_details?: { readonly thinking_tokens: number }
  readonly service_tier?: string
  readonly speed?: string
  readonly inference_geo?: string
  readonly estimated?: true
}

/** Renders the `usage` of an answer, or of the last `message_delta` of a stream. */
export function renderMessagesUsage(usage: Usage): MessagesUsage {
  const { promptTokens, completionTokens, reasoningTokens, estimated } = usage
  // A token that was both written and read counts once, as it is charged.
  const written = Math.min(promptTokens, usage.cacheWriteTokens ?? 0)
  const read = Math.min(promptTokens - written, usage.cachedTokens ?? 0)
  return {
    input_tokens: promptTokens - written - read,
    cache_creation_input_tokens: written,
    cache_read_input_tokens: read,
    output_tokens: completionTokens,
    ...(reasoningTokens !== undefined && {
      output_tokens_details: { thinking_tokens: reasoningTokens },
    }),
    ...renderServed(usage.billing),
    ...(estimated && { estimated }),
  }
}

/** Renders what the vendor says of the service. The fast mode of Claude is a tier here, but not in this API. */
function renderServed({ tier, geo }: BillingFacts = {}) {
  return {
    ...(tier !== undefined && (tier === 'fast' ? { speed: tier } : { service_tier: tier })),
    ...(geo !== undefined && { inference_geo: geo }),
  }
}

/**
 * The usage in `message_start`, whose real counts are unknown. SDKs overwrite these members with those of
 * `message_delta`.
 */
export const unknownUsage: MessagesUsage = Object.freeze({
  input_tokens: 0,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 0,
})
