import type { StatedCostReader, ToolCalls } from '../../core/billing.ts'
import { isCount, parsePromptCount, type ReportedUsage } from '../../core/usage.ts'
import { isObject } from '../../wire/json/parse.ts'
import { readBilling, readServerSearches } from './billing.ts'
import { readLongWrites } from './usage.ts'

/** Reads the usage of a response; undefined, so that the gateway estimates, when it has no valid count. */
export function readResponsesUsage(
  response: unknown,
  readCost?: StatedCostReader,
): ReportedUsage | undefined {
  if (!isObject(response) || !isObject(response['usage'])) return undefined
  const { usage } = response
  const { input_tokens: input, output_tokens: output } = usage
  if (isInvalidCount(input) || isInvalidCount(output)) return undefined
  if ((input ?? output ?? undefined) === undefined) return undefined
  const { input_tokens_details: ofInput, output_tokens_details: ofOutput } = usage
  return {
    promptTokens: parsePromptCount(input),
    completionTokens: toCount(output),
    cachedTokens: readDetail(ofInput, 'cached_tokens'),
    cacheWriteTokens: readDetail(ofInput, 'cache_write_tokens'),
    cacheWrite12hTokens: readLongWrites(ofInput),
    reasoningTokens: readDetail(ofOutput, 'reasoning_tokens'),
    webSearches: readServerSearches(usage) ?? countSearches(response),
    billing: readBilling({
      usage,
      input: ofInput,
      output: ofOutput,
      tier: response['service_tier'],
      toolCalls: countFileSearches(response['output']),
      statedBy: readCost && { answer: response, readCost },
    }),
    estimated: usage['estimated'] === true,
  }
}

/**
 * Counts the searches of the web. Without the vendor's count, each search among the items is one; a page that
 * the model opens is not billed. https://platform.openai.com/docs/guides/tools-web-search
 */
function countSearches({
  tool_usage: tools,
  output,
}: Readonly<Record<string, unknown>>): number | undefined {
  const counted = isObject(tools) ? readDetail(tools['web_search'], 'num_requests') : undefined
  const searches =
    counted ??
    countItems(
      output,
      ({ type, action }) =>
        type === 'web_search_call' && (!isObject(action) || action['type'] === 'search'),
    )
  return searches === 0 ? undefined : searches
}

function countFileSearches(output: unknown): ToolCalls | undefined {
  const searches = countItems(output, ({ type }) => type === 'file_search_call')
  return searches === 0 ? undefined : { file_search: searches }
}

function countItems(
  output: unknown,
  isCounted: (item: Readonly<Record<string, unknown>>) => boolean,
): number {
  if (!Array.isArray(output)) return 0
  return output.filter((item) => isObject(item) && isCounted(item)).length
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
