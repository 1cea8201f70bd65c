import type { BilledTool } from './billing.ts'
import type { Capability } from './capability.ts'
import type { NanoUsd } from './ids.ts'

/** Prices of the tools that a vendor runs. */
export type ToolPrices = Readonly<Partial<Record<BilledTool, NanoUsd>>>

/** What a reservation counts for the tools of the vendor. */
export interface ToolReserve {
  /** The calls of each tool that the request does not bound. */
  readonly calls: number
  /** A conversation that the vendor has stored may have tools too: these are counted for it. */
  readonly ofStored: readonly BilledTool[]
  /** The tokens that each call adds to the prompt. */
  readonly tokens: number
}

/** Prices of a model in nano-dollars per million tokens, and per thousand searches or requests. */
export interface Prices {
  readonly input: NanoUsd
  readonly output: NanoUsd
  /** For the tokens of the output that are reasoning; absent where they cost what the others do. */
  readonly reasoning?: NanoUsd
  readonly cachedInput: NanoUsd
  readonly cacheWrite: NanoUsd
  /** For tokens that are written to a cache for one hour. */
  readonly cacheWrite1h: NanoUsd
  /** For tokens that are written to a cache for twelve hours; absent where they cost what other writes do. */
  readonly cacheWrite12h?: NanoUsd
  /** For tokens that are not text; absent where they cost what others do. */
  readonly audioInput?: NanoUsd
  readonly imageInput?: NanoUsd
  readonly videoInput?: NanoUsd
  readonly cachedAudioInput?: NanoUsd
  readonly audioOutput?: NanoUsd
  readonly imageOutput?: NanoUsd
  readonly searches: NanoUsd
  /** For each thousand calls of a tool that the vendor runs. */
  readonly tools?: ToolPrices
  /** For each thousand requests. */
  readonly requests?: NanoUsd
}

/** True when a token that is not text has a price of its own. */
export function hasModalityPrice(prices: Prices): boolean {
  return (
    prices.audioInput !== undefined ||
    prices.imageInput !== undefined ||
    prices.videoInput !== undefined ||
    prices.cachedAudioInput !== undefined ||
    prices.audioOutput !== undefined ||
    prices.imageOutput !== undefined
  )
}

/** By capability: the name of a setting of a price that is not configured. */
export type MissingPrices = Readonly<Partial<Record<Capability, string>>>

/** What happens to requests whose cost is not known: of keys and groups with a cap, or of all. */
export const unpricedPolicies = ['allow', 'refuse_capped', 'refuse'] as const
export type UnpricedPolicy = (typeof unpricedPolicies)[number]
