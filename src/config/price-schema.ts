import * as z from 'zod'
import { weekdays } from '../core/price-settings.ts'
import {
  distinctNonEmpty,
  price,
  priceFactor,
  setting,
  text,
  tierName,
  wholeNumber,
} from './rules.ts'

const tierNames = z.union([tierName, distinctNonEmpty(tierName)])

/** A part of a day. */
export const hours = z
  .string()
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d-(?:(?:[01]\d|2[0-3]):[0-5]\d|24:00)$/, {
    error: 'must be two times of a day, such as "16:30-00:30"',
  })

/** What settings have beside `hours`. */
export const daysOfHours = {
  days: setting(
    'Requires `hours`. The days on which these begin: `mon`, `tue`, `wed`, `thu`, `fri`, ' +
      '`sat`, `sun`.',
    distinctNonEmpty(z.enum(weekdays)).optional(),
  ),
  time_zone: setting(
    'Requires `hours`. Their time zone, such as `Asia/Shanghai`; UTC if absent.',
    text.optional(),
  ),
}

const dateRule = { error: 'must be a date, such as 2027-01-31' }

/** The parser of the file accepts only dates that exist, but a date may be a text too. */
const date = z
  .string(dateRule)
  .regex(/^\d{4}-\d\d-\d\d$/, dateRule)
  .refine((given) => !Number.isNaN(Date.parse(given)), dateRule)

/** By the tools that vendors run. */
export const toolCosts = z.strictObject({
  web_search: setting('Searches of the web, 0 to 1000000.', price.optional()),
  web_fetch: setting('Fetches of a page, 0 to 1000000.', price.optional()),
  file_search: setting('Searches of stored files, 0 to 1000000.', price.optional()),
  code_execution: setting('Runs of code, 0 to 1000000.', price.optional()),
  maps: setting('Calls of a service of maps, 0 to 1000000.', price.optional()),
  x_search: setting('Searches of X, 0 to 1000000.', price.optional()),
  collections_search: setting('Searches of collections of xAI, 0 to 1000000.', price.optional()),
  attachment_search: setting(
    'Searches of files that are attached to a message, 0 to 1000000.',
    price.optional(),
  ),
})

const asInModel = setting('As in a model, 0 to 1000000.', price.optional())

/** One of `[[providers.models.prices]]`. What an entry needs is checked in `check-prices.ts`. */
export const priceEntry = setting(
  '[Prices under conditions](prices.md). An entry needs at least one of `above_input`, ' +
    '`tier`, `geo`, `hours`, `from` and `until`, and at least one price or `multiply`.',
  z.strictObject({
    above_input: setting(
      '0 to 1000000000. Holds for prompts with more tokens. Must be more than that of an ' +
        'earlier entry whose other conditions are equal.',
      wholeNumber(0, 1_000_000_000).optional(),
    ),
    tier: setting(
      'Holds for these service tiers, such as `priority`, `flex`, `batch` or `fast`: 1 to 40 ' +
        'lower-case letters, digits, `_`, `.` or `-`.',
      tierNames.optional(),
    ),
    geo: setting('Holds for these regions of Claude, such as `us`.', tierNames.optional()),
    hours: setting(
      'Holds at these times of a day, such as `"16:30-00:30"`: from the first to before the ' +
        'second, which may be on the next day, or `24:00`.',
      distinctNonEmpty(hours).optional(),
    ),
    ...daysOfHours,
    from: setting('Holds from the beginning of this day, in UTC: `2027-01-31`.', date.optional()),
    until: setting('Holds until the beginning of this day, in UTC.', date.optional()),
    multiply: setting(
      '0 to 1000, with at most 4 decimals. A factor for all prices of tokens.',
      priceFactor.optional(),
    ),
    cost_per_1m_input: asInModel,
    cost_per_1m_output: asInModel,
    cost_per_1m_reasoning: asInModel,
    cost_per_1m_cached_input: asInModel,
    cost_per_1m_cache_write: asInModel,
    cost_per_1m_cache_write_1h: asInModel,
    cost_per_1m_cache_write_12h: asInModel,
    cost_per_1m_audio_input: asInModel,
    cost_per_1m_image_input: asInModel,
    cost_per_1m_video_input: asInModel,
    cost_per_1m_cached_audio_input: asInModel,
    cost_per_1m_audio_output: asInModel,
    cost_per_1m_image_output: asInModel,
    cost_per_1k_searches: asInModel,
    cost_per_1k_web_searches: asInModel,
    cost_per_1k_requests: asInModel,
    tool_costs_per_1k: setting(
      'As in a model. Tools that it does not name keep their prices.',
      toolCosts.optional(),
    ),
  }),
)

export type PriceEntry = z.infer<typeof priceEntry>
