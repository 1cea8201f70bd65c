import * as z from 'zod'
import { collectFacts, readGeo, readTier, type UsageRun } from '../../core/billing.ts'
import { isCount, type ReportedUsage } from '../../core/usage.ts'
import { isObject } from '../../wire/json/parse.ts'

type Counters = Readonly<Record<string, unknown>>

/**
 * Adds the counters of a later event of a stream. They are running totals, so a later one replaces an earlier
 * one. `null` is no count, and 0 is none after a count: compatible servers count the prompt at the start and
 * report 0 for it at the end.
 */
export function addCounters(known: Counters | undefined, later: unknown): Counters | undefined {
  if (!isObject(later)) return known
  // `iterations` of an earlier event would contradict the counters of a later one.
  return mergeCounters({ ...known, iterations: undefined }, later)
}

/** Adds the counters of the start of a message, where `output_tokens` has only begun to count. */
export function addStartCounters(
  known: Counters | undefined,
  start: unknown,
): Counters | undefined {
  return addCounters(known, isObject(start) ? { ...start, output_tokens: null } : start)
}

function mergeCounters(known: Counters, later: Counters): Counters {
  const merged: Record<string, unknown> = { ...known }
  for (const [name, count] of Object.entries(later)) {
    const before = merged[name]
    if (count === null || (count === 0 && isCount(before))) continue
    merged[name] = isObject(before) && isObject(count) ? mergeCounters(before, count) : count
  }
  return merged
}

/**
 * Converts the API's counters. Its `input_tokens` exclude the tokens that were read from or written
 * to the cache; `promptTokens` includes them. Returns undefined if a counter is not a valid count.
 * https://platform.claude.com/docs/en/api/messages
 */
export function parseUsage(value: unknown): ReportedUsage | undefined {
  const { data: usage } = usageCounters.safeParse(value)
  if (!usage) return undefined
  const runs: readonly z.infer<typeof runCounters>[] = usage.iterations?.length
    ? usage.iterations
    : [usage]
  const input = sum(runs.map((run) => run.input_tokens))
  const read = sum(runs.map((run) => run.cache_read_input_tokens))
  const written = sum(runs.map((run) => run.cache_creation_input_tokens))
  const writtenFor1h = sum(runs.map((run) => run.cache_creation?.ephemeral_1h_input_tokens))
  const searches = usage.server_tool_use?.web_search_requests
  const fetches = usage.server_tool_use?.web_fetch_requests
  const thinking = usage.output_tokens_details?.thinking_tokens
  const cached = (read ?? 0) + (written ?? 0)
  return {
    promptTokens: input === undefined ? undefined : input + cached,
    completionTokens: sum(runs.map((run) => run.output_tokens)),
    ...(cached > 0 && { cachedTokens: read, cacheWriteTokens: written }),
    ...(writtenFor1h && { cacheWrite1hTokens: writtenFor1h }),
    ...(isCount(thinking) && { reasoningTokens: thinking }),
    ...(searches && { webSearches: searches }),
    billing: collectFacts({
      // Fast mode has prices of its own: https://platform.claude.com/docs/en/build-with-claude/fast-mode
      tier: usage.speed === 'fast' ? 'fast' : readTier(usage.service_tier),
      geo: readGeo(usage.inference_geo),
      toolCalls: fetches ? { web_fetch: fetches } : undefined,
      runs: runs.length > 1 ? runs.map(toRun) : undefined,
    }),
  }
}

/** A run of the fallback or of the adviser names its model; the others are of the model that was asked for. */
function toRun(run: z.infer<typeof runCounters>): UsageRun {
  const read = run.cache_read_input_tokens ?? 0
  const written = run.cache_creation_input_tokens ?? 0
  return {
    model: run.model,
    promptTokens: (run.input_tokens ?? 0) + read + written,
    completionTokens: run.output_tokens ?? 0,
    cachedTokens: read,
    cacheWriteTokens: written,
    cacheWrite1hTokens: run.cache_creation?.ephemeral_1h_input_tokens ?? 0,
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

const runCounters = counters.extend({ model: z.string().optional().catch(undefined) })

const usageCounters = z.object({
  ...counters.shape,
  service_tier: z.unknown().optional(),
  speed: z.unknown().optional(),
  inference_geo: z.unknown().optional(),
  output_tokens_details: z.object({ thinking_tokens: z.unknown() }).nullish().catch(undefined),
  server_tool_use: z
    .object({ web_search_requests: count, web_fetch_requests: count })
    .nullish()
    .catch(undefined),
  /**
   * The counters of each run of the model, if the API ran it several times for one answer, for
   * example to compact the conversation. The counters beside them omit some of the runs.
   */
  iterations: z.array(runCounters).nullish().catch(undefined),
})
