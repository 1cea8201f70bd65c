import * as z from 'zod'
import { type Weekday, weekdays } from '../../../src/core/price-settings.ts'
import type { Cell, Fees, TokenPrice } from './settings.ts'
import type { Sheet, Step, Tier, Window } from './sheet.ts'

/** An entry of LiteLLM's catalogue, of which prices are members with composed names. */
export type LiteLlmEntry = z.infer<typeof litellmEntry>

/** https://docs.litellm.ai/docs/provider_registration/add_model_pricing */
export const litellmEntry = z.looseObject({
  litellm_provider: z.string().optional().catch(undefined),
  mode: z.string().optional().catch(undefined),
  deprecation_date: z.string().optional().catch(undefined),
  alias_of: z.string().optional().catch(undefined),
  off_peak_pricing: z
    .looseObject({
      hours_utc: z.union([z.string(), z.array(z.string())]).optional(),
      windows: z
        .array(
          z.looseObject({
            hours_utc: z.union([z.string(), z.array(z.string())]),
            weekdays: z.array(z.number()),
          }),
        )
        .optional(),
      weekday_timezone: z.string().optional(),
    })
    .optional(),
  tiered_pricing: z
    .array(z.looseObject({ range: z.tuple([z.number(), z.number()]) }))
    .optional()
    .catch(undefined),
  search_context_cost_per_query: z.record(z.string(), z.number()).optional().catch(undefined),
  provider_specific_entry: z.looseObject({}).optional().catch(undefined),
})

const names: Readonly<Record<string, TokenPrice>> = {
  input_cost_per_token: 'cost_per_1m_input',
  output_cost_per_token: 'cost_per_1m_output',
  output_cost_per_reasoning_token: 'cost_per_1m_reasoning',
  cache_read_input_token_cost: 'cost_per_1m_cached_input',
  cache_creation_input_token_cost: 'cost_per_1m_cache_write',
  cache_creation_input_token_cost_above_1hr: 'cost_per_1m_cache_write_1h',
  cache_creation_input_token_cost_above_12hr: 'cost_per_1m_cache_write_12h',
  input_cost_per_audio_token: 'cost_per_1m_audio_input',
  input_cost_per_image_token: 'cost_per_1m_image_input',
  input_cost_per_video_token: 'cost_per_1m_video_input',
  cache_read_input_audio_token_cost: 'cost_per_1m_cached_audio_input',
  output_cost_per_audio_token: 'cost_per_1m_audio_output',
  output_cost_per_image_token: 'cost_per_1m_image_output',
}

/** `_decisions` is the price of another API. */
const tierNames: Readonly<Record<string, string>> = {
  priority: 'priority',
  flex: 'flex',
  batches: 'batch',
  ultrafast: 'ultrafast',
  balanced: 'balanced',
}

const composed =
  /^([a-z_]+?(?:_above_(?:1|12)hr)?)(?:_above_(\d+)k_tokens)?(?:_(priority|flex|batches|ultrafast|balanced))?$/

/** Reads the prices of an entry. Its thresholds are exclusive, except those of xAI. */
export function readLiteLlm(entry: LiteLlmEntry): Sheet {
  const isInclusive = entry.litellm_provider === 'xai'
  const cells = new Map<string, Map<number | undefined, Record<string, number>>>()
  const unread: string[] = []
  for (const [key, value] of Object.entries(entry)) {
    if (!/cost|tiered_pricing_/.test(key) || typeof value !== 'number') continue
    const [, metric = '', thousands, suffix = ''] = composed.exec(key) ?? []
    const name = names[metric]
    if (name === undefined) {
      if (!otherPrices.has(key)) unread.push(key)
      continue
    }
    // A read or written token is never free where one of the input is not: 0 says that it has no price of its own.
    if (value === 0 && name.includes('cache') && entry['input_cost_per_token'] !== 0) continue
    const tier = tierNames[suffix] ?? ''
    const above =
      thousands === undefined ? undefined : Number(thousands) * 1_000 - (isInclusive ? 1 : 0)
    const bySize = cells.get(tier) ?? new Map()
    bySize.set(above, { ...bySize.get(above), [name]: toPerMillion(value) })
    cells.set(tier, bySize)
  }
  if (entry['output_cost_per_reasoning_token'] === entry['output_cost_per_token']) {
    // Reasoning has no price of its own, also where a tier names only that of the output.
    for (const cell of cells.get('')?.values() ?? []) delete cell['cost_per_1m_reasoning']
  }
  // Reasoning in a tier costs what the output does there, where only the latter has a price.
  for (const [tier, bySize] of cells) {
    const { cost_per_1m_output: output, cost_per_1m_reasoning: own } = bySize.get(undefined) ?? {}
    if (tier === '' || output === undefined || own !== undefined) continue
    if (cells.get('')?.get(undefined)?.['cost_per_1m_reasoning'] === undefined) continue
    bySize.set(undefined, { ...bySize.get(undefined), cost_per_1m_reasoning: output })
  }
  const toTier = (name: string): Omit<Tier, 'tier'> => {
    const { base, steps } = splitSizes(cells.get(name) ?? new Map())
    return { base, steps }
  }
  const sheet: Sheet = {
    ...toTier(''),
    fees: readFees(entry),
    tiers: Object.values(tierNames)
      .filter((tier) => cells.has(tier))
      .map((tier) => ({ tier, ...toTier(tier) })),
    factors: readFactors(entry),
    windows: [],
    later: [],
    places: readPlaces(entry),
    unread,
  }
  return readOffPeak(readRanges(sheet, entry), entry)
}

/** Prices that are read apart, or say the same as another one. */
const otherPrices: ReadonlySet<string> = new Set([
  'input_cost_per_query',
  'input_cost_per_request',
  'input_cost_per_token_cache_hit',
  'google_maps_grounding_cost_per_query',
  'file_search_cost_per_1k_calls',
])

function splitSizes(bySize: ReadonlyMap<number | undefined, Cell>) {
  const steps: Step[] = []
  for (const [above, prices] of bySize) if (above !== undefined) steps.push({ above, prices })
  return { base: bySize.get(undefined) ?? {}, steps: steps.sort((a, b) => a.above - b.above) }
}

/** Removes the error of a binary fraction, to the billionth of a dollar, which is the finest price. */
export function toPerMillion(perToken: number): number {
  return Number(Number((perToken * 1e6).toPrecision(12)).toFixed(9))
}

function readFees(entry: LiteLlmEntry): Fees {
  const perThousand = (value: unknown) =>
    typeof value === 'number' && value > 0 ? Number((value * 1e3).toPrecision(12)) : undefined
  // A search may cost more with a larger context. A budget holds at each size only with the dearest.
  const sizes = Object.values(entry.search_context_cost_per_query ?? {})
  const tools = {
    web_search: perThousand(Math.max(0, ...sizes)),
    file_search: readNumber(entry['file_search_cost_per_1k_calls']),
    maps: perThousand(entry['google_maps_grounding_cost_per_query']),
  }
  const named = Object.entries(tools).filter(([, price]) => price !== undefined)
  const searches = entry.mode === 'rerank' ? perThousand(entry['input_cost_per_query']) : undefined
  const requests = perThousand(entry['input_cost_per_request'])
  return {
    ...(searches !== undefined && { cost_per_1k_searches: searches }),
    ...(requests !== undefined && { cost_per_1k_requests: requests }),
    ...(named.length > 0 && { tool_costs_per_1k: Object.fromEntries(named) }),
  }
}

function readNumber(value: unknown): number | undefined {
  return typeof value === 'number' ? value : undefined
}

/** The regions and the fast mode of Claude: https://platform.claude.com/docs/en/about-claude/pricing */
function readFactors({ provider_specific_entry: own = {} }: LiteLlmEntry): Sheet['factors'] {
  const [us, fast] = [readNumber(own['us']), readNumber(own['fast'])]
  return [
    ...(fast === undefined ? [] : [{ tier: 'fast', multiply: fast }]),
    ...(us === undefined ? [] : [{ geo: 'us', multiply: us }]),
  ]
}

function readPlaces(entry: LiteLlmEntry): Sheet['places'] {
  const factors = {
    eu: readNumber(entry['regional_processing_uplift_multiplier_eu']),
    us: readNumber(entry['regional_processing_uplift_multiplier_us']),
    gov: readNumber(entry['fedramp_uplift_multiplier']),
    regional: readNumber(entry['regional_endpoint_uplift_multiplier']),
  }
  const named = Object.entries(factors).flatMap(([place, factor]) =>
    factor === undefined ? [] : [[place, factor] as const],
  )
  return Object.fromEntries(named)
}

function readCell(from: Readonly<Record<string, unknown>>): Cell {
  const prices = Object.entries(names).flatMap(([key, name]) => {
    const value = from[key]
    return typeof value === 'number' ? [[name, toPerMillion(value)] as const] : []
  })
  return Object.fromEntries(prices)
}

/** Prices by ranges of the prompt take the place of those without. The upper bound of a range is inclusive. */
function readRanges(sheet: Sheet, { tiered_pricing: ranges }: LiteLlmEntry): Sheet {
  const [first, ...rest] = ranges ?? []
  if (!first) return sheet
  const steps = rest.map((range) => ({ above: range.range[0], prices: readCell(range) }))
  return { ...sheet, base: { ...sheet.base, ...readCell(first) }, steps }
}

/** The catalogue has the peak as base. The settings have the other hours, because a peak may be one factor. */
function readOffPeak(sheet: Sheet, { off_peak_pricing: own }: LiteLlmEntry): Sheet {
  if (!own) return sheet
  const { hours_utc: daily, windows = [], weekday_timezone: zone } = own
  if (zone !== undefined || sheet.steps.length > 0 || sheet.tiers.length > 0) {
    return { ...sheet, unread: [...sheet.unread, 'off_peak_pricing'] }
  }
  const offPeak = new Map<string, Weekday[]>()
  for (const day of weekdays) {
    const number = weekdays.indexOf(day) || 7
    const hours = [
      ...[daily ?? []].flat(),
      ...windows.flatMap((each) => (each.weekdays.includes(number) ? [each.hours_utc].flat() : [])),
    ]
    const peak = listOtherHours(hours).join()
    if (peak !== '') offPeak.set(peak, [...(offPeak.get(peak) ?? []), day])
  }
  const found = [...offPeak].map(([hours, days]): Window => {
    return {
      hours: hours.split(','),
      ...(days.length < weekdays.length && { days }),
      prices: sheet.base,
    }
  })
  return { ...sheet, base: { ...sheet.base, ...readCell(own) }, windows: found }
}

/** Returns the hours of a day that no range has. */
function listOtherHours(ranges: readonly string[]): readonly string[] {
  const minutesOfDay = 24 * 60
  const isTaken = Array.from({ length: minutesOfDay }, () => false)
  for (const range of ranges) {
    const [start = 0, end = 0] = range.split('-').map((time) => {
      const [hours = 0, minutes = 0] = time.split(':').map(Number)
      return hours * 60 + minutes
    })
    const length = end > start ? end - start : end + minutesOfDay - start
    for (let at = 0; at < length; at++) isTaken[(start + at) % minutesOfDay] = true
  }
  const format = (minutes: number) =>
    [Math.floor(minutes / 60), minutes % 60].map((part) => String(part).padStart(2, '0')).join(':')
  const free: string[] = []
  for (let at = 0; at < minutesOfDay; ) {
    let end = at
    while (end < minutesOfDay && isTaken[end] === isTaken[at]) end++
    if (!isTaken[at]) free.push(`${format(at)}-${format(end)}`)
    at = end
  }
  return free
}
