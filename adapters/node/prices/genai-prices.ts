import * as z from 'zod'
import type { Cell, Fees, TokenPrice } from './settings.ts'
import type { Later, Sheet, Step, Tier, Window } from './sheet.ts'

const price = z.union([
  z.number(),
  z.looseObject({
    base: z.number(),
    tiers: z.array(z.looseObject({ start: z.number(), price: z.number() })),
  }),
])
const prices = z.record(z.string(), price)
type Prices = z.infer<typeof prices>

const constraint = z
  .looseObject({
    start_date: z.string().optional(),
    start_time: z.string().optional(),
    end_time: z.string().optional(),
  })
  .nullish()
type Constraint = z.infer<typeof constraint>

/** A rule for the ids of a model. */
export type Match = { readonly [Rule in keyof MatchRules]?: MatchRules[Rule] }
interface MatchRules {
  readonly equals: string
  readonly starts_with: string
  readonly ends_with: string
  readonly contains: string
  readonly regex: string
  readonly or: readonly Match[]
  readonly and: readonly Match[]
}

const match: z.ZodType<Match> = z.lazy(() =>
  z.object({
    equals: z.string().optional(),
    starts_with: z.string().optional(),
    ends_with: z.string().optional(),
    contains: z.string().optional(),
    regex: z.string().optional(),
    or: z.array(match).optional(),
    and: z.array(match).optional(),
  }),
) as z.ZodType<Match>

const model = z.looseObject({
  id: z.string(),
  match,
  prices: z.union([z.array(z.looseObject({ constraint, prices })), prices]),
  price_variants: z
    .array(z.looseObject({ when: z.record(z.string(), z.string()), constraint, prices }))
    .nullish(),
})
export type GenaiPricesModel = z.infer<typeof model>

/** The catalogue of genai-prices: https://github.com/pydantic/genai-prices/blob/main/prices/data.json */
export const genaiPrices = z.array(z.looseObject({ id: z.string(), models: z.array(model) })).min(1)

/** True when an id names the model. */
export function matchesId(rule: Match, id: string): boolean {
  const text = id.toLowerCase()
  const { equals, starts_with: start, ends_with: end, contains, regex, or, and } = rule
  if (equals !== undefined) return text === equals.toLowerCase()
  if (start !== undefined) return text.startsWith(start.toLowerCase())
  if (end !== undefined) return text.endsWith(end.toLowerCase())
  if (contains !== undefined) return text.includes(contains.toLowerCase())
  if (regex !== undefined) return new RegExp(regex).test(text)
  if (or !== undefined) return or.some((each) => matchesId(each, text))
  return and?.every((each) => matchesId(each, text)) ?? false
}

/** Lists the ids that the rule of a model names in full. */
export function listIds({ id, match: rule }: GenaiPricesModel): readonly string[] {
  const named = ({ equals, or = [] }: Match): readonly string[] =>
    equals === undefined ? or.flatMap(named) : [equals]
  return [...new Set([...(matchesId(rule, id) ? [id] : []), ...named(rule)])]
}

const names: Readonly<Record<string, TokenPrice>> = {
  input_mtok: 'cost_per_1m_input',
  output_mtok: 'cost_per_1m_output',
  output_reasoning_mtok: 'cost_per_1m_reasoning',
  cache_read_mtok: 'cost_per_1m_cached_input',
  cache_write_mtok: 'cost_per_1m_cache_write',
  cache_write_1h_mtok: 'cost_per_1m_cache_write_1h',
  input_audio_mtok: 'cost_per_1m_audio_input',
  input_image_mtok: 'cost_per_1m_image_input',
  input_video_mtok: 'cost_per_1m_video_input',
  cache_audio_read_mtok: 'cost_per_1m_cached_audio_input',
  output_audio_mtok: 'cost_per_1m_audio_output',
  output_image_mtok: 'cost_per_1m_image_output',
}

const tools: Readonly<Record<string, keyof NonNullable<Fees['tool_costs_per_1k']>>> = {
  web_searches_kcount: 'web_search',
  storage_searches_kcount: 'file_search',
  social_searches_kcount: 'x_search',
  code_executions_kcount: 'code_execution',
}

const fees: Readonly<Record<string, 'cost_per_1k_searches' | 'cost_per_1k_requests'>> = {
  rerank_searches_kcount: 'cost_per_1k_searches',
  requests_kcount: 'cost_per_1k_requests',
}

/**
 * Reads the prices of a model as they are on a day in UTC, `YYYY-MM-DD`, those by the time of day, and those of
 * later days. Of several prices the last one holds whose condition does.
 */
export function readGenaiPrices(entry: GenaiPricesModel, day: string): Sheet {
  const listed = Array.isArray(entry.prices) ? entry.prices : [{ prices: entry.prices }]
  const unread = new Set<string>()
  let current = listed[0]?.prices ?? {}
  const windows: Window[] = []
  const later: Later[] = []
  for (const { constraint: when, prices: its } of listed.slice(1)) {
    const { start_time: start, end_time: end, start_date: from } = when ?? {}
    if (start !== undefined && end !== undefined) {
      const hours = [`${start.slice(0, 5)}-${end.slice(0, 5)}`]
      addWindow(windows, { hours, prices: readCell(its, unread) })
    } else if (from !== undefined && from > day) {
      later.push({ from, base: readCell(its, unread), steps: readSteps(its) })
    } else {
      current = its
      later.length = 0
      // A price without a condition stands before those with one.
      if (windows.length > 0) unread.add('a price after one by the time of day')
    }
  }
  return {
    base: readCell(current, unread),
    steps: readSteps(current),
    fees: readFees(current),
    tiers: readTiers(entry, { day, standard: readSteps(current), unread }),
    factors: [],
    windows,
    later,
    places: {},
    unread: [...unread],
  }
}

/** Windows with the same prices are one. */
function addWindow(windows: Window[], added: Window): void {
  const at = windows.findIndex(
    ({ prices: its }) => JSON.stringify(its) === JSON.stringify(added.prices),
  )
  const same = windows[at]
  if (same) windows[at] = { ...same, hours: [...same.hours, ...added.hours] }
  else windows.push(added)
}

/** What a request asks for, by the names that the catalogue has for it. */
const tiers: Readonly<Record<string, string>> = {
  'service_tier=flex': 'flex',
  'service_tier=priority': 'priority',
  'service_tier=fast': 'fast',
  'service_tier=default': 'standard',
  'speed=fast': 'fast',
  'processing=batch': 'batch',
}

interface TierOptions {
  readonly day: string
  /** The steps of the standard tier. */
  readonly standard: readonly Step[]
  readonly unread: Set<string>
}

/**
 * The first variant that has a price gives it. A price without steps in a variant is that of all prompts, also where
 * the standard one has steps.
 */
function readTiers(
  { price_variants: variants }: GenaiPricesModel,
  { day, standard, unread }: TierOptions,
): readonly Tier[] {
  const found = new Map<string, Prices>()
  for (const { when, constraint: since, prices: its } of variants ?? []) {
    const [only = '', ...more] = Object.entries(when).map((pair) => pair.join('='))
    const tier = more.length === 0 ? tiers[only] : undefined
    if (tier === undefined) unread.add([only, ...more].join('&'))
    else if (isActive(since, day)) found.set(tier, { ...its, ...found.get(tier) })
    else unread.add(`${only} from ${since?.start_date}`)
  }
  found.delete('standard')
  // OpenAI has two names for its priority tier.
  if (JSON.stringify(found.get('fast')) === JSON.stringify(found.get('priority')))
    found.delete('fast')
  return [...found].map(([tier, its]) => {
    const base = readCell(its, unread)
    const steps = standard.map(({ above, prices: named }) => ({
      above,
      prices: Object.fromEntries(Object.entries(base).filter(([name]) => name in named)),
    }))
    return { tier, base, steps: joinSteps(steps, readSteps(its)) }
  })
}

/** Later steps replace the prices of earlier ones by name. */
function joinSteps(...lists: readonly (readonly Step[])[]): readonly Step[] {
  const joined = new Map<number, Cell>()
  for (const { above, prices: its } of lists.flat()) {
    joined.set(above, { ...joined.get(above), ...its })
  }
  return [...joined]
    .map(([above, its]) => ({ above, prices: its }))
    .sort((a, b) => a.above - b.above)
}

function isActive(since: Constraint, day: string): boolean {
  return since?.start_time === undefined && (since?.start_date ?? '') <= day
}

function readCell(from: Prices, unread: Set<string>): Cell {
  const cell: Record<string, number> = {}
  for (const [key, value] of Object.entries(from)) {
    const name = names[key]
    if (name !== undefined) cell[name] = typeof value === 'number' ? value : value.base
    else if (!(key in tools || key in fees)) unread.add(key)
  }
  return cell
}

function readSteps(from: Prices): readonly Step[] {
  const steps = new Map<number, Record<string, number>>()
  for (const [key, value] of Object.entries(from)) {
    const name = names[key]
    if (name === undefined || typeof value === 'number') continue
    for (const { start, price: its } of value.tiers) {
      steps.set(start, { ...steps.get(start), [name]: its })
    }
  }
  return [...steps]
    .map(([above, its]) => ({ above, prices: its }))
    .sort((a, b) => a.above - b.above)
}

function readFees(from: Prices): Fees {
  const listed = (named: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(named).flatMap(([key, name]) => {
        const value = from[key]
        return typeof value === 'number' && value > 0 ? [[name, value] as const] : []
      }),
    )
  const byTool = listed(tools)
  return { ...listed(fees), ...(Object.keys(byTool).length > 0 && { tool_costs_per_1k: byTool }) }
}
