import type { BilledAnswer, FeeCounts, TokenCounts } from '../core/bill.ts'
import type { NanoUsd } from '../core/ids.ts'
import type { Prices } from '../core/prices.ts'
import type { Usage } from '../core/usage.ts'
import { multiplyRequest, multiplySearches, multiplyTools, roundCost, sumTokens } from './cost.ts'
import { identifyPrices } from './identify.ts'

/** Counts, and the prices that they are charged at. */
export interface PricedPart {
  readonly prices: Prices
  readonly tokens?: TokenCounts | undefined
  readonly fees?: FeeCounts | undefined
}

/** Reads what an answer is billed for apart from tokens. */
export function readFees(
  { webSearches, billing }: Usage,
  searchUnits: number | undefined,
): FeeCounts {
  return {
    toolCalls: { ...(webSearches && { web_search: webSearches }), ...billing?.toolCalls },
    searchUnits: searchUnits ?? 0,
    requests: 1,
  }
}

/** Adds the parts of one answer, and rounds their sum. */
export function sumParts(parts: readonly PricedPart[]): NanoUsd {
  return roundCost(parts.reduce((sum, part) => sum + sumPart(part), 0n))
}

function sumPart({ prices, tokens, fees }: PricedPart): bigint {
  return (tokens ? sumTokens(prices, tokens) : 0n) + (fees ? sumFeeCounts(prices, fees) : 0n)
}

function sumFeeCounts(prices: Prices, { toolCalls, searchUnits, requests }: FeeCounts): bigint {
  return (
    multiplySearches(searchUnits, prices) +
    (prices.tools ? multiplyTools(toolCalls, prices.tools) : 0n) +
    BigInt(requests) * multiplyRequest(prices)
  )
}

/** Identifies the prices of parts. */
export function toBilledAnswer(parts: readonly PricedPart[]): BilledAnswer {
  return parts.map(({ prices, tokens, fees }) => ({
    prices: identifyPrices(prices),
    tokens,
    fees,
  }))
}
