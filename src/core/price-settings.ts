/** The names of the settings of prices. */
export const priceNames = [
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
  'cost_per_1k_searches',
  'cost_per_1k_web_searches',
  'cost_per_1k_requests',
  'tool_costs_per_1k',
] as const

/** What an answer costs: by its counts and the prices, or what the vendor says that it charges. */
export const costMethods = ['calculated', 'reported'] as const

/** US dollars, or ticks of xAI, which are ten thousand millionths of one. */
export const costUnits = ['usd', 'usd_ticks'] as const
export type CostUnit = (typeof costUnits)[number]

/** The days of a week as the configuration names them, from Sunday. */
export const weekdays = ['sun', 'mon', 'tue', 'wed', 'thu', 'fri', 'sat'] as const
export type Weekday = (typeof weekdays)[number]

/** The decimals that a configured factor may have. */
export const factorDecimals = 4
