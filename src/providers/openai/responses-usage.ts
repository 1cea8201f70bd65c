import { isCount, parsePromptCount, type ReportedUsage } from '../../core/usage.ts'
import { isObject } from '../../wire/json.ts'

/** Reads the `usage` of a response; undefined, so that the gateway estimates, when it has no valid count. */
export function readResponsesUsage(value: unknown): ReportedUsage | undefined {
  if (!isObject(value)) return undefined
  const { input_tokens: input, output_tokens: output } = value
  if (isInvalidCount(input) || isInvalidCount(output)) return undefined
  if ((input ?? output ?? undefined) === undefined) return undefined
  return {
    promptTokens: parsePromptCount(input),
    completionTokens: toCount(output),
    cachedTokens: readDetail(value['input_tokens_details'], 'cached_tokens'),
    cacheWriteTokens: readDetail(value['input_tokens_details'], 'cache_write_tokens'),
    reasoningTokens: readDetail(value['output_tokens_details'], 'reasoning_tokens'),
    estimated: value['estimated'] === true,
  }
}

/** True for a value that is present but not a count. */
function isInvalidCount(value: unknown): boolean {
  return value !== undefined && value !== null && !isCount(value)
}

function readDetail(details: unknown, name: string): number | undefined {
  return isObject(details) ? toCount(details[name]) : undefined
}

function toCount(value: unknown): number | undefined {
  return isCount(value) ? value : undefined
}
