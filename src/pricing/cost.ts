import type { UsageEstimate } from '../core/admission.ts'
import type { NanoUsd } from '../core/ids.ts'
import type { Model, ModelRoute, Prices } from '../core/provider.ts'
import type { Usage } from '../core/usage.ts'

/*
 * Prices are for a million tokens or a thousand searches. Amounts are summed up as millionths of a
 * nano-dollar and divided once, at the end. Bigint throughout: no count is too large.
 */
const millionths = 1_000_000n
const searchesToMillionths = 1_000n

/** What an answer costs, rounded half up. The prompt's tokens include the cached and the cached anew. */
export function calculateCost(
  prices: Prices,
  usage: Usage,
  searchUnits: number | undefined,
): NanoUsd {
  const cached = usage.cachedTokens ?? 0
  const written = usage.cacheWriteTokens ?? 0
  const writtenFor1h = Math.min(written, usage.cacheWrite1hTokens ?? 0)
  const plain = Math.max(0, usage.promptTokens - cached - written)
  const sum =
    multiply(plain, prices.input) +
    multiply(cached, prices.cachedInput) +
    multiply(written - writtenFor1h, prices.cacheWrite) +
    multiply(writtenFor1h, prices.cacheWrite1h) +
    multiply(usage.completionTokens, prices.output) +
    multiply(searchUnits ?? 0, prices.searches) * searchesToMillionths
  return ((sum + millionths / 2n) / millionths) as NanoUsd
}

/** The tokens that a request may use at most, as far as anything bounds them: what a minute is debited. */
export function estimateMaxTokens(
  chain: ModelRoute['chain'],
  { promptTokens, output }: UsageEstimate,
): number {
  if (!output) return promptTokens
  return promptTokens + Math.max(...chain.map((link) => output(link).maxTokens))
}

/**
 * What a request may cost at most, as far as can be told: at the prices of the dearest link of its
 * chain, rounded up. `reserveOutputTokens` stands in where neither the request nor the link bounds
 * the output.
 */
export function estimateMaxCost(
  chain: ModelRoute['chain'],
  demand: UsageEstimate,
  reserveOutputTokens: number,
): NanoUsd {
  const dearest = chain
    .map((link) => estimateMaxLinkCost(link, demand, reserveOutputTokens))
    .reduce((a, b) => (b > a ? b : a))
  return ((dearest + millionths - 1n) / millionths) as NanoUsd
}

function estimateMaxLinkCost(link: Model, demand: UsageEstimate, otherwise: number): bigint {
  const { prices, maxOutputTokens = otherwise } = link
  const { promptTokens, output, searchUnits } = demand
  let sum = multiply(promptTokens, prices.input)
  if (output) {
    const { maxTokens, isBounded, choices } = output(link)
    const tokens = isBounded ? maxTokens : Math.max(maxTokens, maxOutputTokens)
    sum += multiply(tokens, prices.output) * BigInt(choices)
  }
  return sum + multiply(searchUnits ?? 0, prices.searches) * searchesToMillionths
}

/** Most counts and many prices are zero. */
function multiply(count: number, price: bigint): bigint {
  return count === 0 || price === 0n ? 0n : BigInt(count) * price
}
