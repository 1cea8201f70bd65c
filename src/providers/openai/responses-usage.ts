import type { StatedCostReader, ToolCalls } from '../../core/billing.ts'
import { isCount, parsePromptCount, type ReportedUsage } from '../../core/usage.ts'
import { isObject } from '../../wire/json/parse.ts'
import { readBilling, readServerSearches } from './billing.ts'
import { readLongWrites, reportTier } from './usage.ts'

/** Reads the usage of a response; without a valid count, so that the gateway estimates, the tier that served alone. */
export function readResponsesUsage(
  response: unknown,
  readCost?: StatedCostReader,
): ReportedUsage | undefined {
  if (!isObject(response)) return undefined
  return readCounts(response, readCost) ?? reportTier(response['service_tier'])
}

function readCounts(
  response: Readonly<Record<string, unknown>>,
  readCost: StatedCostReader | undefined,
): ReportedUsage | undefined {
  if (!isObject(response['usage'])) return undefined
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
      toolCalls: countTools(response['output']),
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
    listItems(output, 'web_search_call').filter(
      ({ action }) => !isObject(action) || action['type'] === 'search',
    ).length
  return searches === 0 ? undefined : searches
}

/**
 * Counts the searches of files, and the containers that code has run in: these are billed, however often it runs.
 * https://platform.openai.com/docs/guides/tools-code-interpreter
 */
function countTools(output: unknown): ToolCalls | undefined {
  const searches = listItems(output, 'file_search_call').length
  const runs = listItems(output, 'code_interpreter_call')
  const containers = new Set(runs.map((run) => run['container_id'] ?? run)).size
  if (searches === 0 && containers === 0) return undefined
  return {
    ...(searches > 0 && { file_search: searches }),
    ...(containers > 0 && { code_execution: containers }),
  }
}

function listItems(output: unknown, type: string): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(output)) return []
  return output.filter((item) => isObject(item) && item['type'] === type)
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
