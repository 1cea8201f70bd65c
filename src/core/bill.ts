import type { BillingFacts, ModalityTokens, ToolCalls, UsageRun } from './billing.ts'
import type { NanoUsd } from './ids.ts'
import type { Usage } from './usage.ts'

/*
 * What the cost of a row is made of, besides the counts in its columns. One text holds all of it, because most rows
 * have nothing but the name of their prices.
 */

/** The tokens of one call of a model. */
export type TokenCounts = UsageRun &
  Pick<Usage, 'reasoningTokens' | 'cacheWrite12hTokens'> &
  Pick<BillingFacts, 'modalities'>

/** What is billed apart from tokens. */
export interface FeeCounts {
  readonly toolCalls: ToolCalls
  readonly searchUnits: number
  readonly requests: number
}

/** Counts, and the prices that they are charged at. */
export interface BilledPart<PricesOfPart = IdentifiedPrices> {
  readonly prices: PricesOfPart
  readonly tokens?: TokenCounts | undefined
  readonly fees?: FeeCounts | undefined
}

/** The parts of one answer, which are rounded together. */
export type BilledAnswer<PricesOfPart = IdentifiedPrices> = readonly BilledPart<PricesOfPart>[]

/** Prices with their id: the hash of their text, so that rows name them in few bytes. */
export interface IdentifiedPrices {
  readonly id: string
  /** JSON: amounts by their names. */
  readonly text: string
}

export interface Bill {
  /** The id of the prices, where all counts of the row are at the same. */
  readonly price?: string | undefined
  /** The answers, where one row has several, or several prices. */
  readonly answers?: readonly BilledAnswer<string>[] | undefined
  /** The part of the writes to a cache that is for twelve hours; absent for none. */
  readonly written12h?: number | undefined
  /** The tokens of modalities that have no column; absent for none. */
  readonly modalities?: Pick<ModalityTokens, 'cachedAudioInput' | 'videoInput'> | undefined
  /** What was reserved of budgets with a cap. */
  readonly reserved?: NanoUsd | undefined
  /** What the counts cost by the prices, where the vendor states the cost. */
  readonly calculated?: NanoUsd | undefined
  /** What the row cost at prices of a later time. */
  readonly repriced?: NanoUsd | undefined
}

/** Writes a bill as JSON; null when there is nothing to say. Amounts are texts: they may exceed the safe integers. */
export function writeBill({ reserved, calculated, repriced, ...bill }: Bill): string | null {
  const text = JSON.stringify({
    ...bill,
    reserved: reserved === undefined ? undefined : String(reserved),
    calculated: calculated === undefined ? undefined : String(calculated),
    repriced: repriced === undefined ? undefined : String(repriced),
  })
  return text === '{}' ? null : text
}

/** Reads a bill that `writeBill` has written. */
export function readBill(text: string | null): Bill {
  if (text === null) return {}
  const { reserved, calculated, repriced, ...bill } = JSON.parse(text) as WrittenBill
  return {
    ...bill,
    reserved: toAmount(reserved),
    calculated: toAmount(calculated),
    repriced: toAmount(repriced),
  }
}

type Amounts = 'reserved' | 'calculated' | 'repriced'
type WrittenBill = Omit<Bill, Amounts> & Readonly<Partial<Record<Amounts, string>>>

function toAmount(text: string | undefined): NanoUsd | undefined {
  // Amounts of nano-dollars.
  return text === undefined ? undefined : (BigInt(text) as NanoUsd)
}
