import type { BilledTool } from '../../../src/core/billing.ts'
import type { Weekday } from '../../../src/core/price-settings.ts'

/** The settings of prices of tokens, in US dollars per million, in the order in which they are written. */
export const tokenPrices = [
  'cost_per_1m_input',
  'cost_per_1m_output',
  'cost_per_1m_reasoning',
  'cost_per_1m_cached_input',
  'cost_per_1m_cache_write',
  'cost_per_1m_cache_write_1h',
  'cost_per_1m_cache_write_12h',
  'cost_per_1m_audio_input',
  'cost_per_1m_image_input',
  'cost_per_1m_video_input',
  'cost_per_1m_cached_audio_input',
  'cost_per_1m_audio_output',
  'cost_per_1m_image_output',
] as const
export type TokenPrice = (typeof tokenPrices)[number]

/** Prices of tokens by the names of their settings. */
export type Cell = Readonly<Partial<Record<TokenPrice, number>>>

/** The settings of what is not billed by the token. */
export interface Fees {
  readonly cost_per_1k_searches?: number
  readonly cost_per_1k_requests?: number
  readonly tool_costs_per_1k?: Readonly<Partial<Record<BilledTool, number>>>
}

/** One of `[[providers.models.prices]]`. */
export interface PriceEntrySettings extends Cell {
  readonly above_input?: number
  readonly tier?: string | readonly string[]
  readonly geo?: string
  readonly hours?: readonly string[]
  readonly days?: readonly Weekday[]
  readonly from?: string
  readonly multiply?: number
}

/** The prices of a model as the settings of the configuration, which may be written as they are. */
export interface PriceSettings extends Cell, Fees {
  readonly prices?: readonly PriceEntrySettings[]
}
