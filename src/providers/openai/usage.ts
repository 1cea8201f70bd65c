import { collectFacts, readTier, type StatedCostReader } from '../../core/billing.ts'
import {
  countOutside,
  isCount,
  parsePromptCount,
  type ReportedUsage,
  reportFacts,
} from '../../core/usage.ts'
import { isObject } from '../../wire/json/parse.ts'
import { readBilling, readServerSearches, type StatedBy } from './billing.ts'

/**
 * Reads an OpenAI-shaped `usage` object, including the field names of compatible vendors. `tier` is the
 * `service_tier` beside it. Returns undefined, so that the gateway estimates, when it is missing or has an
 * invalid count.
 */
export function readUsage(
  value: unknown,
  tier: unknown,
  statedBy?: StatedBy,
): ReportedUsage | undefined {
  if (!isObject(value)) return undefined
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = value
  if (isInvalidCount(prompt) || isInvalidCount(completion) || isInvalidCount(total))
    return undefined
  if ((prompt ?? completion ?? total ?? undefined) === undefined) return undefined
  // Perplexity has the count at the top: https://docs.perplexity.ai/api-reference/sonar-post
  const reasoningTokens =
    readDetail(value['completion_tokens_details'], 'reasoning_tokens') ??
    toCount(value['reasoning_tokens'])
  const cachedTokens = readCached(value)
  const sides = resolveSides({
    prompt: parsePromptCount(prompt),
    completion: toCount(completion),
    total: toCount(total),
    reasoning: reasoningTokens,
    cached: cachedTokens,
  })
  return (
    sides && {
      // Member by member, because a spread takes ten times as long.
      promptTokens: sides.promptTokens,
      completionTokens: sides.completionTokens,
      cachedTokens,
      cacheWriteTokens:
        readDetail(value['prompt_tokens_details'], 'cache_creation_tokens') ??
        readDetail(value['prompt_tokens_details'], 'cache_write_tokens') ??
        // DashScope: https://help.aliyun.com/zh/model-studio/context-cache
        readDetail(value['prompt_tokens_details'], 'cache_creation_input_tokens') ??
        toCount(value['cache_creation_input_tokens']),
      cacheWrite12hTokens: readLongWrites(value['prompt_tokens_details']),
      reasoningTokens,
      webSearches: readServerSearches(value),
      billing: readBilling({
        usage: value,
        input: value['prompt_tokens_details'],
        output: value['completion_tokens_details'],
        tier,
        statedBy,
      }),
      estimated: value['estimated'] === true,
      members: value,
    }
  )
}

/** Reads the usage of an answer or a chunk: in `usage`, or in the first choice, as older models of Kimi have it. */
export function readAnswerUsage(
  answer: Readonly<Record<string, unknown>>,
  readCost?: StatedCostReader,
): ReportedUsage | undefined {
  const { usage, choices, service_tier: tier } = answer
  const statedBy = readCost && { answer, readCost }
  if (usage !== undefined && usage !== null) return readUsage(usage, tier, statedBy)
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined
  return isObject(first) ? readUsage(first['usage'], tier, statedBy) : undefined
}

/** Reports the tier that served, for an answer or a chunk without usage. */
export function reportTier(tier: unknown): ReportedUsage | undefined {
  return reportFacts(collectFacts({ tier: readTier(tier) }))
}

/** Reads the tokens that OpenAI has written to its cache for twelve hours, from the details of the input. */
export function readLongWrites(details: unknown): number | undefined {
  const written = isObject(details) ? details['cache_write_tokens_details'] : undefined
  return readDetail(written, 'ttl_12h_tokens')
}

function readCached(value: Readonly<Record<string, unknown>>): number | undefined {
  return (
    readDetail(value['prompt_tokens_details'], 'cached_tokens') ??
    readDetail(value['prompt_token_details'], 'cached_tokens') ??
    toCount(value['prompt_cache_hit_tokens']) ??
    toCount(value['cached_tokens']) ??
    toCount(value['num_cached_tokens'])
  )
}

/** True for a value that is present but not a count. */
function isInvalidCount(value: unknown): boolean {
  return value !== undefined && value !== null && !isCount(value)
}

interface ReportedCounts {
  readonly prompt: number | undefined
  readonly completion: number | undefined
  readonly total: number | undefined
  readonly reasoning: number | undefined
  readonly cached: number | undefined
}

type ReportedSides = Pick<ReportedUsage, 'promptTokens' | 'completionTokens'>

/** Derives a missing side from the total and the other side. Undefined when the total contradicts them. */
function resolveSides({
  prompt,
  completion,
  total,
  reasoning,
  cached,
}: ReportedCounts): ReportedSides | undefined {
  const output = addReasoning(completion, reasoning)
  if (prompt === undefined) {
    // Without a completion count the total determines neither side.
    const rest = completion && total !== undefined ? total - completion : undefined
    if (rest !== undefined && rest < 0) return undefined
    return { promptTokens: rest, completionTokens: output }
  }
  // xAI leaves reasoning out of completion_tokens but not out of the total, so the part of the total
  // beyond prompt and completion is output.
  // Cached tokens that are not in the prompt may be in the total all the same.
  const whole = prompt + countOutside(prompt, cached)
  const input = total !== undefined && total >= whole ? whole : prompt
  const beyond = total !== undefined && total > input ? total - input : undefined
  const completionTokens = output === undefined ? beyond : Math.max(output, beyond ?? 0)
  return { promptTokens: prompt, completionTokens }
}

/** Adds reasoning, which some DeepInfra models leave out of the completion and of the total. */
function addReasoning(completion: number | undefined, reasoning = 0): number | undefined {
  return completion !== undefined && reasoning > completion ? completion + reasoning : completion
}

function readDetail(details: unknown, name: string): number | undefined {
  return isObject(details) ? toCount(details[name]) : undefined
}

function toCount(value: unknown): number | undefined {
  return isCount(value) ? value : undefined
}
