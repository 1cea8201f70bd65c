import type { Usage } from '../../core/usage.ts'

/** Renders `usageMetadata`: thoughts are no part of the candidates. https://ai.google.dev/api/generate-content#UsageMetadata */
export function renderUsageMetadata(usage: Usage): object {
  const { promptTokens, completionTokens, totalTokens, cachedTokens, estimated } = usage
  const thoughts = Math.min(completionTokens, usage.reasoningTokens ?? 0)
  return {
    promptTokenCount: promptTokens,
    candidatesTokenCount: completionTokens - thoughts,
    totalTokenCount: totalTokens,
    ...(thoughts > 0 && { thoughtsTokenCount: thoughts }),
    ...(cachedTokens !== undefined &&
      cachedTokens > 0 && { cachedContentTokenCount: cachedTokens }),
    ...(estimated && { estimated }),
  }
}
