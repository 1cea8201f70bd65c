import { collectFacts, type ModalityTokens, readTier, type ToolCalls } from '../../core/billing.ts'
import {
  countOutside,
  isCount,
  isOptionalCount,
  type ReportedUsage,
  reportFacts,
} from '../../core/usage.ts'
import { isObject } from '../../wire/json/parse.ts'
import type { BilledTools } from './tool-calls.ts'

/** The counts that grow from one event of a stream to the next. */
export const growingCounts = ['candidatesTokenCount', 'thoughtsTokenCount', 'totalTokenCount']

/** What an answer says of its bill outside of `usageMetadata`. */
export interface AnswerFacts {
  /** The header `x-gemini-service-tier`, which the Gemini API sends and Vertex AI does not. */
  readonly tier: string | undefined
  readonly tools: BilledTools
}

/**
 * Parses `usageMetadata`, in which the vendor often leaves out zeros. Without valid counts the rest of the bill is
 * left, if there is any. https://ai.google.dev/api/generate-content
 */
export function parseUsage(metadata: unknown, facts: AnswerFacts): ReportedUsage | undefined {
  const { tier, tools } = facts
  return (
    parseCounts(metadata, facts) ??
    reportFacts(collectFacts({ tier: readTier(tier), toolCalls: listCalls(tools) }))
  )
}

/** Without counts there is no other place for the searches. */
function listCalls({ webSearches, toolCalls }: BilledTools): ToolCalls | undefined {
  return webSearches ? { web_search: webSearches, ...toolCalls } : toolCalls
}

function parseCounts(
  metadata: unknown,
  { tier, tools: { webSearches, toolCalls } }: AnswerFacts,
): ReportedUsage | undefined {
  const tokens = isObject(metadata) ? parseTokens(metadata) : undefined
  if (!isObject(metadata) || !tokens) return undefined
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens } = tokens
  return {
    promptTokens,
    completionTokens,
    cachedTokens,
    reasoningTokens,
    webSearches,
    billing: collectFacts({
      tier: readTier(metadata['trafficType']) ?? readTier(tier),
      modalities: parseModalities(metadata),
      toolCalls,
    }),
  }
}

/** Returns the usage of an event that differs from the one before only in `growingCounts`. */
export function recountUsage(
  metadata: Record<string, unknown>,
  { webSearches, billing }: ReportedUsage,
): ReportedUsage | undefined {
  const tokens = parseTokens(metadata)
  if (!tokens) return undefined
  const { promptTokens, completionTokens, cachedTokens, reasoningTokens } = tokens
  return {
    promptTokens,
    completionTokens,
    cachedTokens,
    reasoningTokens,
    webSearches,
    billing,
  }
}

type TokenCounts = Pick<
  ReportedUsage,
  'promptTokens' | 'completionTokens' | 'cachedTokens' | 'reasoningTokens'
>

/** Undefined when one of the counts is invalid. */
function parseTokens(metadata: Record<string, unknown>): TokenCounts | undefined {
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

/** https://ai.google.dev/api/generate-content#UsageMetadata */
function parseModalities(metadata: Record<string, unknown>): ModalityTokens | undefined {
  const prompt = metadata['promptTokensDetails']
  const cached = metadata['cacheTokensDetails']
  const candidates = metadata['candidatesTokensDetails']
  if (prompt === undefined && candidates === undefined) return undefined
  const found = {
    audioInput: countOf(prompt, 'AUDIO'),
    cachedAudioInput: countOf(cached, 'AUDIO'),
    imageInput: countOf(prompt, 'IMAGE'),
    videoInput: countOf(prompt, 'VIDEO'),
    audioOutput: countOf(candidates, 'AUDIO'),
    imageOutput: countOf(candidates, 'IMAGE'),
  }
  return Object.values(found).some(Boolean) ? found : undefined
}

/** Adds up the tokens of a modality; undefined when there are none. */
function countOf(details: unknown, modality: string): number | undefined {
  if (!Array.isArray(details)) return undefined
  let sum = 0
  for (const entry of details) {
    if (!isObject(entry) || entry['modality'] !== modality) continue
    const { tokenCount } = entry
    if (isCount(tokenCount)) sum += tokenCount
  }
  return isCount(sum) && sum > 0 ? sum : undefined
}

/** Counts the part of the total beyond the prompt: thoughts that no other count has are output. */
function countBeyond(total = 0, promptTokens = 0, cached = 0): number {
  if (promptTokens === 0) return 0
  const whole = promptTokens + countOutside(promptTokens, cached)
  return total - (total >= whole ? whole : promptTokens)
}
