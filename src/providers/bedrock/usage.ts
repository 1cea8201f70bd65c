import * as z from 'zod'
import { collectFacts, readTier } from '../../core/billing.ts'
import { isCount, type ReportedUsage, reportFacts } from '../../core/usage.ts'

/**
 * Converts the counters of Converse. Its `inputTokens` exclude the tokens that were read from or
 * written to the cache; `promptTokens` includes them. `tier` is the `serviceTier` beside them, which holds without
 * valid counters too.
 * https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_TokenUsage.html
 */
export function parseUsage(value: unknown, tier: ServiceTier): ReportedUsage | undefined {
  const billing = collectFacts({ tier: readTier(tier?.type) })
  const parsed = usageCounts.safeParse(value)
  if (!parsed.success) return reportFacts(billing)
  const { inputTokens, outputTokens, cacheReadInputTokens, cacheWriteInputTokens } = parsed.data
  const cached = (cacheReadInputTokens ?? 0) + (cacheWriteInputTokens ?? 0)
  const cacheWrite1hTokens = (parsed.data.cacheDetails ?? [])
    .filter(({ ttl }) => ttl === '1h')
    .reduce((sum, { inputTokens: written }) => sum + (written ?? 0), 0)
  return {
    promptTokens: typeof inputTokens === 'number' ? inputTokens + cached : undefined,
    completionTokens: outputTokens ?? undefined,
    ...(cached > 0 && {
      cachedTokens: cacheReadInputTokens ?? undefined,
      cacheWriteTokens: cacheWriteInputTokens ?? undefined,
    }),
    ...(cacheWrite1hTokens > 0 && { cacheWrite1hTokens }),
    billing,
  }
}

type ServiceTier = z.infer<typeof serviceTier>

/** https://docs.aws.amazon.com/bedrock/latest/APIReference/API_runtime_ServiceTier.html */
export const serviceTier = z.object({ type: z.unknown().optional() }).nullish().catch(undefined)

const count = z.custom<number>(isCount)

const usageCounts = z.object({
  inputTokens: count.nullish(),
  outputTokens: count.nullish(),
  cacheReadInputTokens: count.nullish(),
  cacheWriteInputTokens: count.nullish(),
  cacheDetails: z
    .array(z.object({ ttl: z.string().nullish(), inputTokens: count.nullish() }))
    .nullish(),
})
