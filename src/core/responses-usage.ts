import type { CountNames, Usage } from './usage.ts'

/** The names of the counts of the Responses API. */
export const responsesCounts: CountNames = Object.freeze({
  prompt: ['input_tokens'],
  completion: ['output_tokens'],
  always: ['total_tokens'],
})

/** Renders the `usage` object of the Responses API. */
export function renderResponsesUsage(usage: Usage): Record<string, unknown> {
  return {
    input_tokens: usage.promptTokens,
    input_tokens_details: {
      cached_tokens: usage.cachedTokens ?? 0,
      cache_write_tokens: usage.cacheWriteTokens ?? 0,
    },
    output_tokens: usage.completionTokens,
    output_tokens_details: { reasoning_tokens: usage.reasoningTokens ?? 0 },
    total_tokens: usage.totalTokens,
    ...(usage.estimated && { estimated: true }),
  }
}
