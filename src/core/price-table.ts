import type { BilledTool } from './billing.ts'
import type { Millis } from './ids.ts'
import type { Prices } from './prices.ts'

/** What the price of one call of a vendor depends on. */
export interface PriceFacts {
  /** All tokens of the prompt, those read from or written to a cache included. */
  readonly promptTokens: number
  /** The service tier that served, as `readTier` normalises it. */
  readonly tier: string
  readonly geo: string
  /** When the call was sent, on the wall clock. */
  readonly at: Millis
}

/** What a request says of the prices that it asks for. */
export interface PriceAsk {
  /** Undefined for `auto`, and where the request names no tier. */
  readonly tier: string | undefined
  readonly geo: string | undefined
  /** When the request arrived, on the wall clock. */
  readonly at: Millis
  /** The prompt continues what the vendor has stored, so its size is unknown. */
  readonly hasStoredPrompt: boolean
  /** The vendor may be asked to keep what it writes to its cache for twelve hours. */
  readonly mayCacheLong: boolean
  /** What the prompt may have, and what may be generated, besides text. */
  readonly modalities: AskedModalities
  /** The tools that the vendor may run. Empty where no price depends on them. */
  readonly tools: AskedTools
  /** Absent where the tools of a request are not read. */
  readonly toolPaths?: ToolPaths | undefined
}

/** What a prompt may have besides text, and what may be generated besides it. */
export interface AskedModalities {
  readonly input: ReadonlySet<InputModality>
  readonly output: ReadonlySet<OutputModality>
}

export const inputModalities = ['audio', 'image', 'video'] as const
export type InputModality = (typeof inputModalities)[number]
export const outputModalities = ['audio', 'image'] as const
export type OutputModality = (typeof outputModalities)[number]

/** Of a request that does not say it. */
export const anyModalities: AskedModalities = Object.freeze({
  input: new Set(inputModalities),
  output: new Set(outputModalities),
})

/** How often a request lets a vendor run a tool. */
export interface AskedCalls {
  /** At most where they are bounded, else as many as the request names. */
  readonly calls: number
  readonly isBounded: boolean
}

/** Where a request allows the tools of its vendor, as dotted paths. */
export interface ToolPaths {
  readonly named: ReadonlyMap<BilledTool, readonly string[]>
  /** The members that may make the vendor run tools that the request does not name. */
  readonly unnamed: readonly string[]
}

export type AskedTools = ReadonlyMap<BilledTool, AskedCalls>

/** The prices of some facts, and the entries of the configuration that they come from. */
export interface ResolvedPrices {
  readonly prices: Prices
  /** The entries that hold, in ASCII; undefined for the base. */
  readonly label: string | undefined
}

/** The prices of a model that depend on more than the kind of token. */
export interface PriceTable {
  /** Returns the prices of one call. */
  resolve(facts: PriceFacts): ResolvedPrices
  /** Returns all prices that the calls of a request with at most this prompt may have. */
  listReachable(promptTokens: number, ask: PriceAsk): readonly ResolvedPrices[]
  /** True for the standard tier, for one that an entry names, and where no entry names any. */
  hasTier(tier: string): boolean
  /** Tokens that are not text have prices of their own, in the base or in an entry. */
  readonly hasModalities: boolean
  /** The tier and the region that are assumed where an answer does not name them. */
  readonly assumed: Pick<PriceFacts, 'tier' | 'geo'>
}
