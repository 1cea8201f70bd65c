import { isCount, isOptionalCount, type ReportedUsage } from '../../core/usage.ts'
import { isObject } from '../../wire/json.ts'

/** `usageMetadata`, in which zeros are often left out. Undefined when it cannot be used. */
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
  // Without anything generated the total says nothing of either side.
  const rest = total !== undefined && generated > 0 ? total - generated : undefined
  const promptTokens = prompt === undefined ? rest : prompt + toolUse
  // Some deployments count thoughts as candidates too; their total gives it away.
  const isInclusive = promptTokens !== undefined && promptTokens + candidates === total
  return {
    promptTokens,
    completionTokens: isInclusive ? candidates : generated,
    cachedTokens: cached,
    reasoningTokens: thoughts,
  }
}
