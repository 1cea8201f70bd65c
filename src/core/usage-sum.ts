import { type BillingFacts, collectFacts, type ModalityTokens, type ToolCalls } from './billing.ts'
import type { NanoUsd } from './ids.ts'
import type { Usage } from './usage.ts'

/**
 * Returns the sum of the usage of two calls, as a row of the usage log has it. The facts that cannot be added are
 * those of the second call.
 */
export function combineUsage(first: Usage, second: Usage): Usage {
  const add = (name: CountName) => addOptional(first[name], second[name])
  return {
    promptTokens: first.promptTokens + second.promptTokens,
    completionTokens: first.completionTokens + second.completionTokens,
    totalTokens: first.totalTokens + second.totalTokens,
    cachedTokens: add('cachedTokens'),
    cacheWriteTokens: add('cacheWriteTokens'),
    cacheWrite1hTokens: add('cacheWrite1hTokens'),
    cacheWrite12hTokens: add('cacheWrite12hTokens'),
    reasoningTokens: add('reasoningTokens'),
    webSearches: add('webSearches'),
    billing: addFacts(first.billing, second.billing),
    estimated: first.estimated || second.estimated,
    estimatedSide: second.estimatedSide ?? first.estimatedSide,
  }
}

type CountName =
  | 'cachedTokens'
  | 'cacheWriteTokens'
  | 'cacheWrite1hTokens'
  | 'cacheWrite12hTokens'
  | 'reasoningTokens'
  | 'webSearches'

/** The calls of models inside an answer are for its price, and each answer is priced by itself. */
function addFacts(first: BillingFacts = {}, second: BillingFacts = {}): BillingFacts | undefined {
  const statedCost = (first.statedCost ?? 0n) + (second.statedCost ?? 0n)
  return collectFacts({
    tier: second.tier ?? first.tier,
    geo: second.geo ?? first.geo,
    modalities: addMembers<ModalityTokens>(first.modalities, second.modalities),
    toolCalls: addMembers<ToolCalls>(first.toolCalls, second.toolCalls),
    statedCost: statedCost === 0n ? undefined : (statedCost as NanoUsd),
  })
}

/** Adds two objects that have no members but counts, all of them optional. */
function addMembers<Counts extends object>(
  first: Counts | undefined,
  second: Counts | undefined,
): Counts | undefined {
  if (!first || !second) return first ?? second
  const sum = new Map<string, number | undefined>(Object.entries(first))
  for (const [name, count] of Object.entries(second)) {
    sum.set(name, addOptional(sum.get(name), count))
  }
  return Object.fromEntries(sum) as Counts
}

function addOptional(first: number | undefined, second: number | undefined): number | undefined {
  return first === undefined ? second : first + (second ?? 0)
}
