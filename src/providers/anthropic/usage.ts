import * as z from 'zod'
import { isCount, type ReportedUsage } from '../../core/usage.ts'

/**
 * Converts the API's counters. Its `input_tokens` exclude the tokens that were read from or written
 * to the cache; `promptTokens` includes them. Returns undefined if a counter is not a valid count.
 * https://platform.claude.com/docs/en/api/messages
 */
export function parseUsage(value: unknown): ReportedUsage | undefined {
  const { data: usage } = usageCounters.safeParse(value)
  if (!usage) return undefined
  const runs = usage.iterations?.length ? usage.iterations : [usage]
  const input = sum(runs.map((run) => run.input_tokens))
  const read = sum(runs.map((run) => run.cache_read_input_tokens))
  const written = sum(runs.map((run) => run.cache_creation_input_tokens))
  const writtenFor1h = sum(runs.map((run) => run.cache_creation?.ephemeral_1h_input_tokens))
  const searches = usage.server_tool_use?.web_search_requests
  const thinking = usage.output_tokens_details?.thinking_tokens
  const cached = (read ?? 0) + (written ?? 0)
  return {
    promptTokens: input === undefined ? undefined : input + cached,
    completionTokens: sum(runs.map((run) => run.output_tokens)),
    ...(cached > 0 && { cachedTokens: read, cacheWriteTokens: written }),
    ...(writtenFor1h && { cacheWrite1hTokens: writtenFor1h }),
    ...(isCount(thinking) && { reasoningTokens: thinking }),
    ...(searches && { webSearches: searches }),
  }
}

/** Adds up the counts that are present; undefined if all are absent. */
function sum(counts: readonly (number | null | undefined)[]): number | undefined {
  const given = counts.filter((count) => typeof count === 'number')
  return given.length > 0 ? given.reduce((total, count) => total + count) : undefined
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
  server_tool_use: z.object({ web_search_requests: count }).nullish().catch(undefined),
  /**
   * The counters of each run of the model, if the API ran it several times for one answer, for
   * example to compact the conversation. The counters beside them omit some of the runs.
   */
  iterations: z.array(counters).nullish().catch(undefined),
})
