import { collectFacts, type UsageRun } from '../../core/billing.ts'
import { isCount, isOptionalCount, type ReportedUsage } from '../../core/usage.ts'
import { isObject } from '../../wire/json/parse.ts'

/**
 * Parses the token counts. `tokens` counts all that the model read and wrote, including the
 * vendor's prompt template; `billed_units`, which are fewer, are the fallback. Both counts come
 * from one group.
 * https://docs.cohere.com/reference/chat
 */
export function parseUsage(value: unknown): ReportedUsage | undefined {
  if (!isObject(value)) return undefined
  const groups = [parseGroup(value['tokens']), parseGroup(value['billed_units'])]
  const counted = groups.find(isComplete) ?? groups.find((group) => group !== undefined)
  const cached = roundCount(value['cached_tokens'])
  return (
    counted && {
      ...counted,
      cachedTokens: isCount(cached) ? cached : undefined,
      billing: collectFacts({ runs: toBilledRuns(groups[1]) }),
    }
  )
}

/** The vendor charges for `billed_units`. https://docs.cohere.com/docs/how-does-cohere-pricing-work */
function toBilledRuns(billed: ReportedUsage | undefined): readonly UsageRun[] | undefined {
  const { promptTokens, completionTokens } = billed ?? {}
  if (promptTokens === undefined || completionTokens === undefined) return undefined
  return [{ promptTokens, completionTokens }]
}

function isComplete(group: ReportedUsage | undefined): boolean {
  return group?.promptTokens !== undefined && group.completionTokens !== undefined
}

function parseGroup(group: unknown): ReportedUsage | undefined {
  if (!isObject(group)) return undefined
  const promptTokens = roundCount(group['input_tokens'])
  const completionTokens = roundCount(group['output_tokens'])
  if (promptTokens === undefined && completionTokens === undefined) return undefined
  if (!isOptionalCount(promptTokens) || !isOptionalCount(completionTokens)) return undefined
  return { promptTokens, completionTokens }
}

/** Rounds a count: the vendor declares its counts as floats. */
function roundCount(value: unknown): unknown {
  return typeof value === 'number' ? Math.round(value) : (value ?? undefined)
}
