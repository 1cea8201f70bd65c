import { isCount, parsePromptCount, type ReportedUsage } from '../../core/usage.ts'
import { isObject } from '../../wire/json.ts'

/**
 * Reads an OpenAI-shaped `usage` object, with the spellings of its relatives. Undefined when there
 * is none, or when it holds anything but non-negative safe integers: then the gateway estimates.
 */
export function readUsage(value: unknown): ReportedUsage | undefined {
  if (!isObject(value)) return undefined
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = value
  if (isInvalidCount(prompt) || isInvalidCount(completion) || isInvalidCount(total))
    return undefined
  if ((prompt ?? completion ?? total ?? undefined) === undefined) return undefined
  const reasoningTokens = readDetail(value['completion_tokens_details'], 'reasoning_tokens')
  const sides = resolveSides({
    prompt: parsePromptCount(prompt),
    completion: toCount(completion),
    total: toCount(total),
    reasoning: reasoningTokens,
  })
  return (
    sides && {
      // Member by member: to copy an object and add to it takes ten times as long.
      promptTokens: sides.promptTokens,
      completionTokens: sides.completionTokens,
      cachedTokens:
        readDetail(value['prompt_tokens_details'], 'cached_tokens') ??
        readDetail(value['prompt_token_details'], 'cached_tokens') ??
        toCount(value['prompt_cache_hit_tokens']) ??
        toCount(value['cached_tokens']) ??
        toCount(value['num_cached_tokens']),
      cacheWriteTokens:
        readDetail(value['prompt_tokens_details'], 'cache_creation_tokens') ??
        readDetail(value['prompt_tokens_details'], 'cache_write_tokens') ??
        toCount(value['cache_creation_input_tokens']),
      reasoningTokens,
      estimated: value['estimated'] === true,
    }
  )
}

/** There, and no count. */
function isInvalidCount(value: unknown): boolean {
  return value !== undefined && value !== null && !isCount(value)
}

interface ReportedCounts {
  readonly prompt: number | undefined
  readonly completion: number | undefined
  readonly total: number | undefined
  readonly reasoning: number | undefined
}

type ReportedSides = Pick<ReportedUsage, 'promptTokens' | 'completionTokens'>

/** One side may follow from the total and the other. Undefined when the total contradicts them. */
function resolveSides({
  prompt,
  completion,
  total,
  reasoning,
}: ReportedCounts): ReportedSides | undefined {
  const output = addReasoning(completion, reasoning)
  if (prompt === undefined) {
    // Without an output of its own the total says nothing of either side.
    const rest = completion && total !== undefined ? total - completion : undefined
    if (rest !== undefined && rest < 0) return undefined
    return { promptTokens: rest, completionTokens: output }
  }
  // xAI leaves reasoning out of completion_tokens but not out of the total: what the total has
  // beyond prompt and completion is output.
  const beyond = total !== undefined && total > prompt ? total - prompt : undefined
  const completionTokens = output === undefined ? beyond : Math.max(output, beyond ?? 0)
  return { promptTokens: prompt, completionTokens }
}

/** Some DeepInfra models leave reasoning out of the output and of the total. */
function addReasoning(completion: number | undefined, reasoning = 0): number | undefined {
  return completion !== undefined && reasoning > completion ? completion + reasoning : completion
}

function readDetail(details: unknown, name: string): number | undefined {
  return isObject(details) ? toCount(details[name]) : undefined
}

function toCount(value: unknown): number | undefined {
  return isCount(value) ? value : undefined
}
