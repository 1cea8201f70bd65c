import type { NanoUsd } from '../core/ids.ts'
import { toNanoUsd } from '../core/money.ts'
import type { Prices } from '../core/provider.ts'

/** The prices of a model in US dollars, as its configuration entry has them. */
export interface ConfiguredPrices {
  readonly cost_per_1m_input?: number | undefined
  readonly cost_per_1m_output?: number | undefined
  /** The price of input by default. */
  readonly cost_per_1m_cached_input?: number | undefined
  /** The price of input by default. */
  readonly cost_per_1m_cache_write?: number | undefined
  /** The price of a cache write by default. */
  readonly cost_per_1m_cache_write_1h?: number | undefined
  readonly cost_per_1k_searches?: number | undefined
  readonly cost_per_1k_web_searches?: number | undefined
}

/** Converts configured prices to nano-dollars. A price that is not configured is 0, or its default. */
export function toPrices(configured: ConfiguredPrices): Prices {
  const input = toNano(configured.cost_per_1m_input, free)
  const cacheWrite = toNano(configured.cost_per_1m_cache_write, input)
  return {
    input,
    output: toNano(configured.cost_per_1m_output, free),
    cachedInput: toNano(configured.cost_per_1m_cached_input, input),
    cacheWrite,
    cacheWrite1h: toNano(configured.cost_per_1m_cache_write_1h, cacheWrite),
    searches: toNano(configured.cost_per_1k_searches, free),
    ...(configured.cost_per_1k_web_searches !== undefined && {
      webSearches: toNanoUsd(configured.cost_per_1k_web_searches),
    }),
  }
}

/** True when anything that a model does has a price. */
export function isPriced(prices: Prices): boolean {
  for (const name in prices) if (prices[name as keyof Prices]! > 0n) return true
  return false
}

const free = 0n as NanoUsd

function toNano(usd: number | undefined, byDefault: NanoUsd): NanoUsd {
  return usd === undefined ? byDefault : toNanoUsd(usd)
}
