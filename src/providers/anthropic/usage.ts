import {
  collectFacts,
  readGeo,
  readTier,
  type ToolCalls,
  type UsageRun,
} from '../../core/billing.ts'
import { isCount, type ReportedUsage, reportFacts } from '../../core/usage.ts'
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
    // A value that names nothing leaves the tier and the region that are known.
    if (name === 'service_tier' && readTier(count) === undefined) continue
    if (typeof before === 'string' && typeof count !== 'string') continue
    merged[name] = isObject(before) && isObject(count) ? mergeCounters(before, count) : count
  }
  return merged
}

/**
 * Converts the API's counters. Its `input_tokens` exclude the tokens that were read from or written
 * to the cache; `promptTokens` includes them. Without valid counts only the tier and the region are
 * reported. `container` is the
 * member of the message: it is there when code has run, which is billed by the time of the container and not counted.
 * https://platform.claude.com/docs/en/api/messages
 */
export function parseUsage(value: unknown, container: unknown): ReportedUsage | undefined {
  if (!isObject(value)) return undefined
  // Fast mode has prices of its own: https://platform.claude.com/docs/en/build-with-claude/fast-mode
  const tier = value['speed'] === 'fast' ? 'fast' : readTier(value['service_tier'])
  const geo = readGeo(value['inference_geo'])
  const whole = readRun(value)
  if (!whole) return reportFacts(collectFacts({ tier, geo }))
  const runs = readIterations(value['iterations']) ?? [whole]
  const input = sum(runs.map((run) => run.input))
  const read = sum(runs.map((run) => run.read))
  const written = sum(runs.map((run) => run.written))
  const writtenFor1h = sum(runs.map((run) => run.writtenFor1h))
  const { web_search_requests: searches, web_fetch_requests: fetches } = readServerTools(value)
  const thinking = readMember(value['output_tokens_details'], 'thinking_tokens')
  const cached = (read ?? 0) + (written ?? 0)
  return {
    promptTokens: input === undefined ? undefined : input + cached,
    completionTokens: sum(runs.map((run) => run.output)),
    ...(cached > 0 && { cachedTokens: read, cacheWriteTokens: written }),
    ...(writtenFor1h && { cacheWrite1hTokens: writtenFor1h }),
    ...(isCount(thinking) && { reasoningTokens: thinking }),
    ...(searches && { webSearches: searches }),
    billing: collectFacts({
      tier,
      geo,
      toolCalls: countTools(fetches, container),
      runs: runs.length > 1 ? runs.map(toUsageRun) : undefined,
    }),
  }
}

function countTools(fetches: number | null | undefined, container: unknown): ToolCalls | undefined {
  const hasRunCode = isObject(container)
  if (!fetches && !hasRunCode) return undefined
  return { ...(fetches && { web_fetch: fetches }), ...(hasRunCode && { code_execution: 1 }) }
}

/** The counters of a run of the model, or of a whole answer. */
interface Run {
  readonly model: string | undefined
  readonly input: number | undefined
  readonly output: number | undefined
  readonly read: number | undefined
  readonly written: number | undefined
  readonly writtenFor1h: number | undefined
}

/** Undefined if a counter is not a count. It runs for each answer, where a schema would take microseconds. */
function readRun(value: unknown): Run | undefined {
  if (!isObject(value)) return undefined
  const { input_tokens: input, output_tokens: output, model } = value
  const { cache_read_input_tokens: read, cache_creation_input_tokens: written } = value
  if (!isCountOrNone(input) || !isCountOrNone(output)) return undefined
  if (!isCountOrNone(read) || !isCountOrNone(written)) return undefined
  const writtenFor1h = readMember(value['cache_creation'], 'ephemeral_1h_input_tokens')
  return {
    model: typeof model === 'string' ? model : undefined,
    input: input ?? undefined,
    output: output ?? undefined,
    read: read ?? undefined,
    written: written ?? undefined,
    writtenFor1h: isCount(writtenFor1h) ? writtenFor1h : undefined,
  }
}

/**
 * Reads the counters of each run, if the API ran the model several times for one answer, for example to compact
 * the conversation. The counters beside them omit some of the runs.
 */
function readIterations(value: unknown): readonly Run[] | undefined {
  if (!Array.isArray(value) || value.length === 0) return undefined
  const runs = value.map(readRun)
  return runs.every((run) => run !== undefined) ? runs : undefined
}

/** Counts of which one is invalid are all absent. */
function readServerTools({ server_tool_use: used }: Counters): ServerToolUse {
  if (!isObject(used)) return noServerTools
  const { web_search_requests, web_fetch_requests } = used
  if (!isCountOrNone(web_search_requests) || !isCountOrNone(web_fetch_requests))
    return noServerTools
  return { web_search_requests, web_fetch_requests }
}

interface ServerToolUse {
  readonly web_search_requests?: number | null | undefined
  readonly web_fetch_requests?: number | null | undefined
}

const noServerTools: ServerToolUse = Object.freeze({})

function readMember(value: unknown, name: string): unknown {
  return isObject(value) ? value[name] : undefined
}

function isCountOrNone(value: unknown): value is number | null | undefined {
  return value === undefined || value === null || isCount(value)
}

/** A run of the fallback or of the adviser names its model; the others are of the model that was asked for. */
function toUsageRun({ model, input, output, read = 0, written = 0, writtenFor1h }: Run): UsageRun {
  return {
    model,
    promptTokens: (input ?? 0) + read + written,
    completionTokens: output ?? 0,
    cachedTokens: read,
    cacheWriteTokens: written,
    cacheWrite1hTokens: writtenFor1h ?? 0,
  }
}

/** Adds up the counts that are present; undefined if all are absent. */
function sum(counts: readonly (number | undefined)[]): number | undefined {
  return counts.reduce(
    (total, count) => (count === undefined ? total : (total ?? 0) + count),
    undefined,
  )
}
