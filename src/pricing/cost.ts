import type { NanoUsd } from '../core/ids.ts'
import type { Prices } from '../core/provider.ts'
import type { Usage } from '../core/usage.ts'

/*
 * Prices are for a million tokens, or for a thousand searches. Amounts are summed in millionths of a
 * nano-dollar and divided once, at the end, so that nothing is rounded twice. All are bigints, because
 * a count times a price may exceed the safe integers.
 */
export const millionthsPerNano = 1_000_000n
const searchMillionths = 1_000n

/**
 * Calculates what an answer costs, rounded half up. `promptTokens` includes the cached tokens and the
 * tokens written to a cache, which may be the same ones: each token of the prompt is charged once, and one that
 * was both written and read as written.
 */
export function calculateCost(
  prices: Prices,
  usage: Usage,
  searchUnits: number | undefined,
): NanoUsd {
  const written = Math.min(usage.promptTokens, usage.cacheWriteTokens ?? 0)
  const cached = Math.min(usage.promptTokens - written, usage.cachedTokens ?? 0)
  const writtenFor1h = Math.min(written, usage.cacheWrite1hTokens ?? 0)
  const uncached = usage.promptTokens - written - cached
  const sum =
    multiply(uncached, prices.input) +
    multiply(cached, prices.cachedInput) +
    multiply(written - writtenFor1h, prices.cacheWrite) +
    multiply(writtenFor1h, prices.cacheWrite1h) +
    multiply(usage.completionTokens, prices.output) +
    multiplySearches(searchUnits, prices) +
    multiply(usage.webSearches ?? 0, prices.webSearches ?? 0n) * searchMillionths
  return ((sum + millionthsPerNano / 2n) / millionthsPerNano) as NanoUsd
}

/** Multiplies a count by a price. Most counts and many prices are zero, which needs no bigint. */
export function multiply(count: number, price: bigint): bigint {
  return count === 0 || price === 0n ? 0n : BigInt(count) * price
}

/** The price of search units, in millionths of a nano-dollar. */
export function multiplySearches(searchUnits: number | undefined, { searches }: Prices): bigint {
  return multiply(searchUnits ?? 0, searches) * searchMillionths
}
