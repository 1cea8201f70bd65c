import { isCount, type Usage } from '../../../core/usage.ts'
import type { FinishReason } from '../../../stream/chunk-writer.ts'
import { isObject } from '../openai/usage.ts'

const finishReasons: ReadonlyMap<unknown, FinishReason> = new Map([
  ['MAX_TOKENS', 'length'],
  ['TOOL_CALL', 'tool_calls'],
  // Two of API v1, which older deployments still send.
  ['ERROR_LIMIT', 'length'],
  ['ERROR_TOXIC', 'content_filter'],
])

/** How a message ended. Every end that is not special is the end of the calls, or of the text. */
export function finishReason(reason: unknown, hasCalls: boolean): FinishReason {
  return finishReasons.get(reason) ?? (hasCalls ? 'tool_calls' : 'stop')
}

const failures: ReadonlyMap<unknown, number> = new Map([
  ['ERROR', 500],
  ['TIMEOUT', 504],
])

/** The status that an end stands for which is none: the generation failed, inside a 200. */
export function failedStatus(reason: unknown): number | undefined {
  return failures.get(reason)
}

/**
 * The token counts. `tokens` are what the model has read and written, the vendor's prompt template
 * included; `billed_units`, which are fewer, stand in where they are missing. Never one of each.
 */
export function cohereUsage(value: unknown): Usage | undefined {
  if (!isObject(value)) return undefined
  const counted = countsIn(value['tokens']) ?? countsIn(value['billed_units'])
  return (
    counted && {
      promptTokens: counted.input,
      completionTokens: counted.output,
      totalTokens: counted.input + counted.output,
      cachedTokens: countOf(value['cached_tokens']),
      estimated: false,
    }
  )
}

function countsIn(group: unknown): { input: number; output: number } | undefined {
  if (!isObject(group)) return undefined
  const input = countOf(group['input_tokens'])
  const output = countOf(group['output_tokens'])
  return input === undefined || output === undefined ? undefined : { input, output }
}

/** The vendor declares its counts as floats. */
function countOf(value: unknown): number | undefined {
  const rounded = typeof value === 'number' ? Math.round(value) : undefined
  return isCount(rounded) ? rounded : undefined
}
