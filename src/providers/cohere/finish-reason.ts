import { isCount, isCountOrNone, type ReportedUsage } from '../../core/usage.ts'
import type { FinishReason } from '../../stream/chunk-writer.ts'
import { isObject } from '../../wire/json.ts'

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
export function cohereUsage(value: unknown): ReportedUsage | undefined {
  if (!isObject(value)) return undefined
  const groups = [sidesIn(value['tokens']), sidesIn(value['billed_units'])]
  const counted = groups.find(isWhole) ?? groups.find((group) => group !== undefined)
  const cached = rounded(value['cached_tokens'])
  return counted && { ...counted, cachedTokens: isCount(cached) ? cached : undefined }
}

function isWhole(group: ReportedUsage | undefined): boolean {
  return group?.promptTokens !== undefined && group.completionTokens !== undefined
}

function sidesIn(group: unknown): ReportedUsage | undefined {
  if (!isObject(group)) return undefined
  const promptTokens = rounded(group['input_tokens'])
  const completionTokens = rounded(group['output_tokens'])
  if (promptTokens === undefined && completionTokens === undefined) return undefined
  if (!isCountOrNone(promptTokens) || !isCountOrNone(completionTokens)) return undefined
  return { promptTokens, completionTokens }
}

/** The vendor declares its counts as floats. */
function rounded(value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value) : (value ?? undefined)
}
