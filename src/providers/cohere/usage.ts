import { isCount, isOptionalCount, type ReportedUsage } from '../../core/usage.ts'
import { isObject } from '../../wire/json.ts'

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
  if (!isOptionalCount(promptTokens) || !isOptionalCount(completionTokens)) return undefined
  return { promptTokens, completionTokens }
}

/** The vendor declares its counts as floats. */
function rounded(value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value) : (value ?? undefined)
}
