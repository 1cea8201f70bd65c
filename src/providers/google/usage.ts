import { countOutside, isCount, isOptionalCount, type ReportedUsage } from '../../core/usage.ts'
import { isObject } from '../../wire/json.ts'

/** The counts that grow from one event of a stream to the next. */
export const growingCounts = ['candidatesTokenCount', 'thoughtsTokenCount', 'totalTokenCount']

/**
 * Parses `usageMetadata`, in which the vendor often leaves out zeros. Undefined when one of the
 * counts is invalid. https://ai.google.dev/api/generate-content
 */
export function parseUsage(metadata: unknown): ReportedUsage | undefined {
  if (!isObject(metadata)) return undefined
  const prompt = metadata['promptTokenCount'] ?? undefined
  const toolUse = metadata['toolUsePromptTokenCount'] ?? 0
  const candidates = metadata['candidatesTokenCount'] ?? 0
  const thoughts = metadata['thoughtsTokenCount'] ?? undefined
  const total = metadata['totalTokenCount'] ?? undefined
  const cached = metadata['cachedContentTokenCount'] ?? undefined
  if (!isOptionalCount(prompt) || !isCount(toolUse) || !isCount(candidates)) return undefined
  if (!isOptionalCount(thoughts) || !isOptionalCount(total) || !isOptionalCount(cached))
    return undefined
  const generated = candidates + (thoughts ?? 0)
  // Without a count of generated tokens, the total cannot be divided between prompt and answer.
  const rest = total !== undefined && generated > 0 ? total - generated : undefined
  const promptTokens = prompt === undefined ? rest : prompt + toolUse
  // Some deployments include thoughts in the candidates' count; the total reveals it.
  const isInclusive = promptTokens !== undefined && promptTokens + candidates === total
  const listed = isInclusive ? candidates : generated
  return {
    promptTokens,
    completionTokens: Math.max(listed, countBeyond(total, promptTokens, cached)),
    cachedTokens: cached,
    reasoningTokens: thoughts,
  }
}

/** Counts the part of the total beyond the prompt: thoughts that no other count has are output. */
function countBeyond(total = 0, promptTokens = 0, cached = 0): number {
  if (promptTokens === 0) return 0
  const whole = promptTokens + countOutside(promptTokens, cached)
  return total - (total >= whole ? whole : promptTokens)
}
