import * as z from 'zod'
import { weekdays } from '../core/price-settings.ts'
import { distinctNonEmpty, price, priceFactor, text, tierName, wholeNumber } from './rules.ts'

const tierNames = z.union([tierName, distinctNonEmpty(tierName)])

const hours = z.string().regex(/^(?:[01]\d|2[0-3]):[0-5]\d-(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/, {
  error: 'must be two times of a day, such as "16:30-00:30"',
})

const dateRule = { error: 'must be a date, such as 2027-01-31' }

/** The parser of the file accepts only dates that exist, but a date may be a text too. */
const date = z
  .string(dateRule)
  .regex(/^\d{4}-\d\d-\d\d$/, dateRule)
  .refine((given) => !Number.isNaN(Date.parse(given)), dateRule)

/** By the tools that vendors run. */
export const toolCosts = z.strictObject({
  web_search: price.optional(),
  web_fetch: price.optional(),
  file_search: price.optional(),
  code_execution: price.optional(),
  maps: price.optional(),
  x_search: price.optional(),
  collections_search: price.optional(),
  attachment_search: price.optional(),
})

/** One of `[[providers.models.prices]]`. What an entry needs is checked in `check-prices.ts`. */
export const priceEntry = z.strictObject({
  above_input: wholeNumber(0, 1_000_000_000).optional(),
  tier: tierNames.optional(),
  geo: tierNames.optional(),
  hours: distinctNonEmpty(hours).optional(),
  days: distinctNonEmpty(z.enum(weekdays)).optional(),
  time_zone: text.optional(),
  from: date.optional(),
  until: date.optional(),
  multiply: priceFactor.optional(),
  cost_per_1m_input: price.optional(),
  cost_per_1m_output: price.optional(),
  cost_per_1m_reasoning: price.optional(),
  cost_per_1m_cached_input: price.optional(),
  cost_per_1m_cache_write: price.optional(),
  cost_per_1m_cache_write_1h: price.optional(),
  cost_per_1m_cache_write_12h: price.optional(),
  cost_per_1k_searches: price.optional(),
  cost_per_1k_web_searches: price.optional(),
  cost_per_1k_requests: price.optional(),
  tool_costs_per_1k: toolCosts.optional(),
})

export type PriceEntry = z.infer<typeof priceEntry>
