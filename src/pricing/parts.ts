import type { BilledAnswer, FeeCounts, TokenCounts } from '../core/bill.ts'
import type { NanoUsd } from '../core/ids.ts'
import type { Prices } from '../core/prices.ts'
import type { Usage } from '../core/usage.ts'
import {
  millionthsPerNano,
  multiply,
  multiplyRequest,
  multiplySearches,
  multiplyTools,
  roundCost,
  sumTokens,
  type TokenKind,
  tokenKinds,
  visitTokens,
} from './cost.ts'
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

/** What a line of a bill is for. */
export type LineName = TokenKind | 'searches' | 'requests' | keyof FeeCounts['toolCalls']

/** One line of a bill. */
export interface CostLine {
  readonly name: LineName
  readonly count: number
  /** Nano-dollars for a million tokens, or for a thousand of anything else. */
  readonly price: NanoUsd
  /** `price` is for so many. */
  readonly per: number
  /** In millionths of a nano-dollar. */
  readonly cost: bigint
}

/** Lists what a part is made of. A line of 0 is left out. */
export function listLines({ prices, tokens, fees }: PricedPart): readonly CostLine[] {
  const lines: CostLine[] = []
  const add = (name: LineName, count: number, price: NanoUsd, per: number) => {
    if (count > 0) lines.push(createLine({ name, count, price, per }))
  }
  if (tokens) {
    visitTokens(prices, tokens, (name, count, price) => add(name, count, price, million))
    lines.sort((a, b) => placeOf(a.name) - placeOf(b.name))
  }
  if (!fees) return lines
  for (const [tool, count] of Object.entries(fees.toolCalls) as [
    keyof FeeCounts['toolCalls'],
    number,
  ][]) {
    const fee = prices.tools?.[tool] ?? free
    if (fee > 0n) add(tool, count, fee, thousand)
  }
  if (prices.searches > 0n) add('searches', fees.searchUnits, prices.searches, thousand)
  if (prices.requests) add('requests', fees.requests, prices.requests, thousand)
  return lines
}

/** Without `per` the line is for tokens. */
export function createLine({
  name,
  count,
  price,
  per = million,
}: Omit<CostLine, 'cost' | 'per'> & Partial<Pick<CostLine, 'per'>>): CostLine {
  return {
    name,
    count,
    price,
    per,
    cost: (multiply(count, price) * millionthsPerNano) / BigInt(per),
  }
}

/** Lists name the kinds of tokens in one order. */
function placeOf(name: LineName): number {
  const names: readonly LineName[] = tokenKinds
  return names.indexOf(name)
}

const million = 1_000_000
const thousand = 1_000
const free = 0n as NanoUsd
