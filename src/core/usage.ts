/** Token counts of one answer, in the meaning of the OpenAI API: prompt includes cached, completion includes reasoning. */
export interface Usage {
  readonly promptTokens: number
  readonly completionTokens: number
  readonly totalTokens: number
  readonly cachedTokens?: number | undefined
  readonly cacheWriteTokens?: number | undefined
  readonly reasoningTokens?: number | undefined
  /** True when the gateway counted, because the upstream reported nothing usable. */
  readonly estimated: boolean
}

/** A count that can be trusted: a non-negative safe integer. */
export function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0
}

/** LM Studio, old llama.cpp and some proxies report zeros for an answer that has text. */
export function isCredible(usage: Usage | undefined, outputBytes: number): usage is Usage {
  return usage !== undefined && (usage.totalTokens > 0 || outputBytes === 0)
}

/** The `usage` object of an OpenAI-shaped answer. */
export function renderUsage(usage: Usage): Record<string, unknown> {
  const prompt = {
    ...(usage.cachedTokens !== undefined && { cached_tokens: usage.cachedTokens }),
    ...(usage.cacheWriteTokens !== undefined && { cache_creation_tokens: usage.cacheWriteTokens }),
  }
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.totalTokens,
    ...(Object.keys(prompt).length > 0 && { prompt_tokens_details: prompt }),
    ...(usage.reasoningTokens !== undefined && {
      completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
    }),
    ...(usage.estimated && { estimated: true }),
  }
}
