import { isCount, parsePromptCount, type ReportedUsage } from '../../core/usage.ts'
import { isObject } from '../../wire/json.ts'

/**
 * Reads an OpenAI-shaped `usage` object, with the spellings of its relatives. Undefined when there
 * is none, or when it holds anything but non-negative safe integers: then the gateway estimates.
 */
export function readUsage(value: unknown): ReportedUsage | undefined {
  if (!isObject(value)) return undefined
  const { prompt_tokens: prompt, completion_tokens: completion, total_tokens: total } = value
  if (isWrong(prompt) || isWrong(completion) || isWrong(total)) return undefined
  if ((prompt ?? completion ?? total ?? undefined) === undefined) return undefined
  const reasoningTokens = detail(value['completion_tokens_details'], 'reasoning_tokens')
  const sides = sidesOf({
    prompt: parsePromptCount(prompt),
    completion: optionalCount(completion),
    total: optionalCount(total),
    reasoning: reasoningTokens,
  })
  return (
    sides && {
      // Member by member: to copy an object and add to it takes ten times as long.
      promptTokens: sides.promptTokens,
      completionTokens: sides.completionTokens,
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
      reasoningTokens,
      estimated: value['estimated'] === true,
    }
  )
}

/** There, and no count. */
function isWrong(value: unknown): boolean {
  return value !== undefined && value !== null && !isCount(value)
}

interface Counts {
  readonly prompt: number | undefined
  readonly completion: number | undefined
  readonly total: number | undefined
  readonly reasoning: number | undefined
}

type Sides = Pick<ReportedUsage, 'promptTokens' | 'completionTokens'>

/** One side may follow from the total and the other. Undefined when the total contradicts them. */
function sidesOf({ prompt, completion, total, reasoning }: Counts): Sides | undefined {
  const output = withReasoning(completion, reasoning)
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
function withReasoning(completion: number | undefined, reasoning = 0): number | undefined {
  return completion !== undefined && reasoning > completion ? completion + reasoning : completion
}

function detail(details: unknown, name: string): number | undefined {
  return isObject(details) ? optionalCount(details[name]) : undefined
}

function optionalCount(value: unknown): number | undefined {
  return isCount(value) ? value : undefined
}
