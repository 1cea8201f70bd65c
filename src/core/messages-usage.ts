import type { Usage } from './usage.ts'

/** The counters of the Messages API. `input_tokens` excludes tokens read from or written to the cache. */
export interface MessagesUsage {
  readonly input_tokens: number
  readonly cache_creation_input_tokens: number
  readonly cache_read_input_tokens: number
  readonly output_tokens: number
  readonly output_tokens_details?: { readonly thinking_tokens: number }
  readonly estimated?: true
}

/** Renders the `usage` of an answer, or of the last `message_delta` of a stream. */
export function renderMessagesUsage(usage: Usage): MessagesUsage {
  const { promptTokens, completionTokens, cachedTokens = 0, cacheWriteTokens = 0 } = usage
  const { reasoningTokens, estimated } = usage
  return {
    input_tokens: Math.max(0, promptTokens - cachedTokens - cacheWriteTokens),
    cache_creation_input_tokens: cacheWriteTokens,
    cache_read_input_tokens: cachedTokens,
    output_tokens: completionTokens,
    ...(reasoningTokens !== undefined && {
      output_tokens_details: { thinking_tokens: reasoningTokens },
    }),
    ...(estimated && { estimated }),
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
