import type { TokenCounts } from '../core/bill.ts'
import { type VendorTool, vendorTools } from '../core/billing.ts'
import type { NanoUsd } from '../core/ids.ts'
import type { Prices, ToolPrices } from '../core/prices.ts'
import type { Usage } from '../core/usage.ts'

/*
 * Prices are for a million tokens, or for a thousand searches. Amounts are summed in millionths of a
 * nano-dollar and divided once, at the end, so that nothing is rounded twice. All are bigints, because
 * a count times a price may exceed the safe integers.
 */
export const millionthsPerNano = 1_000_000n
const perThousand = 1_000n

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
  return roundCost(sumTokens(prices, usage) + sumFees(prices, usage, searchUnits))
}

/** Rounds millionths half up to nano-dollars. */
export function roundCost(sum: bigint): NanoUsd {
  return ((sum + millionthsPerNano / 2n) / millionthsPerNano) as NanoUsd
}

/** The kinds of tokens that have prices of their own. */
export type TokenKind =
  | 'input'
  | 'cached'
  | 'written'
  | 'written_1h'
  | 'written_12h'
  | 'output'
  | 'reasoning'

/** Calls `visit` for the tokens of one call by their prices. Each token is in one kind. */
export function visitTokens(
  prices: Prices,
  usage: TokenCounts,
  visit: (kind: TokenKind, count: number, price: NanoUsd) => void,
): void {
  const written = Math.min(usage.promptTokens, usage.cacheWriteTokens ?? 0)
  const cached = Math.min(usage.promptTokens - written, usage.cachedTokens ?? 0)
  const writtenFor1h = Math.min(written, usage.cacheWrite1hTokens ?? 0)
  const writtenFor12h = Math.min(written - writtenFor1h, usage.cacheWrite12hTokens ?? 0)
  const { cacheWrite12h: perLongWrite = prices.cacheWrite } = prices
  const { reasoning: perReasoning = prices.output } = prices
  const reasoning = Math.min(usage.completionTokens, usage.reasoningTokens ?? 0)
  visit('input', usage.promptTokens - written - cached, prices.input)
  visit('cached', cached, prices.cachedInput)
  visit('written', written - writtenFor1h - writtenFor12h, prices.cacheWrite)
  visit('written_12h', writtenFor12h, perLongWrite)
  visit('written_1h', writtenFor1h, prices.cacheWrite1h)
  visit('output', usage.completionTokens - reasoning, prices.output)
  visit('reasoning', reasoning, perReasoning)
}

/** Prices the tokens of one call, in millionths. */
export function sumTokens(prices: Prices, usage: TokenCounts): bigint {
  let sum = 0n
  visitTokens(prices, usage, (_, count, price) => {
    // Most counts are 0.
    if (count !== 0) sum += multiply(count, price)
  })
  return sum
}

/** Prices what is not a token, in millionths. */
export function sumFees(
  prices: Prices,
  { webSearches, billing }: Usage,
  searchUnits: number | undefined,
): bigint {
  return (
    multiplySearches(searchUnits, prices) +
    (prices.tools
      ? multiplyTools({ web_search: webSearches, ...billing?.toolCalls }, prices.tools)
      : 0n) +
    multiplyRequest(prices)
  )
}

/** The price of the calls of a vendor's tools, in millionths of a nano-dollar. */
export function multiplyTools(
  calls: Readonly<Partial<Record<VendorTool, number | undefined>>>,
  tools: ToolPrices,
): bigint {
  return vendorTools.reduce(
    (sum, tool) => sum + multiply(calls[tool] ?? 0, tools[tool] ?? 0n) * perThousand,
    0n,
  )
}

/** Multiplies a count by a price. Most counts and many prices are zero, which needs no bigint. */
export function multiply(count: number, price: bigint): bigint {
  return count === 0 || price === 0n ? 0n : BigInt(count) * price
}

/** The price of search units, in millionths of a nano-dollar. */
export function multiplySearches(searchUnits: number | undefined, { searches }: Prices): bigint {
  return multiply(searchUnits ?? 0, searches) * perThousand
}

/** The price of one request, in millionths of a nano-dollar. */
export function multiplyRequest({ requests }: Prices): bigint {
  return requests === undefined ? 0n : requests * perThousand
}
