import * as z from 'zod'
import { isCount, type ReportedUsage } from '../../core/usage.ts'

/**
 * The vendor's counters in the meaning of the OpenAI API: its `input_tokens` leave out what was read
 * from and written to the cache. Undefined when one of them cannot be trusted.
 */
export function readAnthropicUsage(value: unknown): ReportedUsage | undefined {
  const { data: usage } = usageCounters.safeParse(value)
  if (!usage) return undefined
  const runs = usage.iterations?.length ? usage.iterations : [usage]
  const input = sumOf(runs.map((run) => run.input_tokens))
  const read = sumOf(runs.map((run) => run.cache_read_input_tokens))
  const written = sumOf(runs.map((run) => run.cache_creation_input_tokens))
  const writtenFor1h = sumOf(runs.map((run) => run.cache_creation?.ephemeral_1h_input_tokens))
  const thinking = usage.output_tokens_details?.thinking_tokens
  const cached = (read ?? 0) + (written ?? 0)
  return {
    promptTokens: input === undefined ? undefined : input + cached,
    completionTokens: sumOf(runs.map((run) => run.output_tokens)),
    ...(cached > 0 && { cachedTokens: read, cacheWriteTokens: written }),
    ...(writtenFor1h && { cacheWrite1hTokens: writtenFor1h }),
    ...(isCount(thinking) && { reasoningTokens: thinking }),
  }
}

/** Undefined when none is given. */
function sumOf(counts: readonly (number | null | undefined)[]): number | undefined {
  const given = counts.filter((one) => typeof one === 'number')
  return given.length > 0 ? given.reduce((sum, one) => sum + one) : undefined
}

const count = z.custom<number>(isCount).nullish()

const counters = z.object({
  input_tokens: count,
  output_tokens: count,
  cache_read_input_tokens: count,
  cache_creation_input_tokens: count,
  cache_creation: z.object({ ephemeral_1h_input_tokens: count }).nullish().catch(undefined),
})

const usageCounters = z.object({
  ...counters.shape,
  output_tokens_details: z.object({ thinking_tokens: z.unknown() }).nullish().catch(undefined),
  /**
   * Each run of the model, where the vendor made several: for tools of its own, or to compact the
   * conversation. The counters beside them leave some of the runs out.
   */
  iterations: z.array(counters).nullish().catch(undefined),
})
