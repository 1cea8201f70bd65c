import { isCount, type Usage } from '../../../core/usage.ts'

/**
 * Reads an OpenAI-shaped `usage` object, with the spellings of its relatives. Undefined when there
 * is none, or when it holds anything but non-negative safe integers: then the gateway estimates.
 */
export function readUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = value
  const given = [prompt, completion, total].filter((count) => count !== undefined && count !== null)
  if (given.length === 0 || !given.every(isCount)) return undefined
  const promptTokens = countOr(prompt, countOr(total, 0) - countOr(completion, 0))
  if (promptTokens < 0) return undefined
  const reasoning = detail(value['completion_tokens_details'], 'reasoning_tokens')
  // xAI leaves reasoning out of completion_tokens but not out of the total; some DeepInfra models
  // leave it out of both. What the total has beyond prompt and completion is output.
  const reported = countOr(completion, 0)
  const withReasoning =
    reasoning !== undefined && reasoning > reported ? reported + reasoning : reported
  const completionTokens = Math.max(withReasoning, countOr(total, 0) - promptTokens)
  // Each may be a safe integer and their sum none.
  if (!isCount(promptTokens + completionTokens)) return undefined
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    cachedTokens:
      detail(value['prompt_tokens_details'], 'cached_tokens') ??
      detail(value['prompt_token_details'], 'cached_tokens') ??
      optionalCount(value['prompt_cache_hit_tokens']) ??
      optionalCount(value['cached_tokens']) ??
      optionalCount(value['num_cached_tokens']),
    cacheWriteTokens:
      detail(value['prompt_tokens_details'], 'cache_creation_tokens') ??
      detail(value['prompt_tokens_details'], 'cache_write_tokens') ??
      optionalCount(value['cache_creation_input_tokens']),
    reasoningTokens: reasoning,
    estimated: false,
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function detail(details: unknown, name: string): number | undefined {
  return isObject(details) ? optionalCount(details[name]) : undefined
}

function optionalCount(value: unknown): number | undefined {
  return isCount(value) ? value : undefined
}

function countOr(value: unknown, otherwise: number): number {
  return isCount(value) ? value : otherwise
}
