import type { NanoUsd } from './ids.ts'

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
  readonly searches: NanoUsd
  /** Searches of the web that the vendor ran for an answer. */
  readonly webSearches?: NanoUsd
  /** For each thousand requests. */
  readonly requests?: NanoUsd
}
