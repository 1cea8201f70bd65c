import { factorDecimals } from '../../../src/core/price-settings.ts'
import {
  type Cell,
  type PriceEntrySettings,
  type PriceSettings,
  type TokenPrice,
  tokenPrices,
} from './settings.ts'
import { findCell, findTierCell, type Sheet, type Step } from './sheet.ts'

/**
 * Writes the prices of a catalogue as settings: an entry for each condition, with a factor where one factor gives
 * all prices exactly. A price that always equals its default is left out.
 */
export function toSettings(sheet: Sheet): PriceSettings {
  const { base, fees, steps, tiers, windows, later, factors } = sheet
  const standard = (above?: number) => findCell(base, steps, above)
  const conditions: readonly Condition[] = [
    { entry: {}, sizes: listSizes(steps), before: () => base, after: standard },
    ...later.map((prices) => ({
      entry: { from: prices.from },
      sizes: [undefined, ...listSizes(steps, prices.steps)],
      before: standard,
      after: (above?: number) => findCell(prices.base, prices.steps, above),
    })),
    ...windows.map(({ hours, days, prices }) => ({
      entry: { hours, ...(days && { days }) },
      sizes: [undefined],
      before: standard,
      after: () => ({ ...base, ...prices }),
      mayMultiply: true,
    })),
    ...tiers.map((tier) => ({
      entry: { tier: tier.tier },
      sizes: [undefined, ...listSizes(steps, tier.steps)],
      before: standard,
      after: (above?: number) => findTierCell(sheet, tier, above),
      mayMultiply: true,
    })),
  ]
  const names = findNames(conditions, base)
  const entries = conditions.flatMap((condition) => listEntries(condition, names))
  const all = [...joinTiers(entries), ...factors]
  const named = pick(complete(base, names), names)
  return { ...named, ...fees, ...(all.length > 0 && { prices: all }) }
}

/** Prices that hold under a condition. */
interface Condition {
  /** What the condition is, in settings. */
  readonly entry: PriceEntrySettings
  /** The sizes of prompts at which the prices may change, ascending. */
  readonly sizes: readonly (number | undefined)[]
  /** The prices without the condition, for prompts above a size. */
  readonly before: (above?: number) => Cell
  readonly after: (above?: number) => Cell
  readonly mayMultiply?: boolean
}

function listSizes(...lists: readonly (readonly Step[])[]): number[] {
  const sizes = lists.flat().map(({ above }) => above)
  return [...new Set(sizes)].sort((a, b) => a - b)
}

/** The price that holds where another one is not named. */
const defaults: Readonly<Record<TokenPrice, TokenPrice | undefined>> = {
  cost_per_1m_input: undefined,
  cost_per_1m_output: undefined,
  cost_per_1m_reasoning: 'cost_per_1m_output',
  cost_per_1m_cached_input: 'cost_per_1m_input',
  cost_per_1m_cache_write: 'cost_per_1m_input',
  cost_per_1m_cache_write_1h: 'cost_per_1m_cache_write',
  cost_per_1m_cache_write_12h: 'cost_per_1m_cache_write',
  cost_per_1m_audio_input: 'cost_per_1m_input',
  cost_per_1m_image_input: 'cost_per_1m_input',
  cost_per_1m_video_input: 'cost_per_1m_input',
  cost_per_1m_cached_audio_input: 'cost_per_1m_cached_input',
  cost_per_1m_audio_output: 'cost_per_1m_output',
  cost_per_1m_image_output: 'cost_per_1m_output',
}

function findPrice(cell: Cell, name: TokenPrice): number {
  const byDefault = defaults[name]
  return cell[name] ?? (byDefault === undefined ? 0 : findPrice(cell, byDefault))
}

/** Lists the prices that are named somewhere and differ somewhere from their default. */
function findNames(conditions: readonly Condition[], base: Cell): readonly TokenPrice[] {
  const cells = conditions.flatMap(({ sizes, after }) => sizes.map((above) => after(above)))
  const all = [base, ...cells]
  return tokenPrices.filter((name) => {
    if (!all.some((cell) => cell[name] !== undefined)) return false
    const byDefault = defaults[name]
    return (
      byDefault === undefined ||
      all.some((cell) => findPrice(cell, name) !== findPrice(cell, byDefault))
    )
  })
}

function complete(cell: Cell, names: readonly TokenPrice[]): Cell {
  return Object.fromEntries(names.map((name) => [name, findPrice(cell, name)]))
}

function pick(cell: Cell, names: readonly TokenPrice[]): Cell {
  return Object.fromEntries(names.flatMap((name) => (name in cell ? [[name, cell[name]]] : [])))
}

function listEntries(
  condition: Condition,
  names: readonly TokenPrice[],
): readonly PriceEntrySettings[] {
  const { entry, sizes, before, after, mayMultiply } = condition
  const pairs = sizes.map((above) => ({
    above,
    old: complete(before(above), names),
    own: complete(after(above), names),
  }))
  const factor = mayMultiply ? findFactor(pairs) : undefined
  if (factor !== undefined) return factor === 1 ? [] : [{ ...entry, multiply: factor }]
  let written: Cell = {}
  return pairs.flatMap(({ above, old, own }) => {
    const current = { ...old, ...written }
    const different = pick(
      own,
      names.filter((name) => own[name] !== current[name]),
    )
    written = { ...written, ...different }
    if (Object.keys(different).length === 0) return []
    return [{ ...(above !== undefined && { above_input: above }), ...entry, ...different }]
  })
}

interface Pair {
  readonly old: Cell
  readonly own: Cell
}

/** Finds the factor that gives all prices exactly, to the billionth of a dollar; undefined without one. */
function findFactor(pairs: readonly Pair[]): number | undefined {
  const changes = pairs.flatMap(({ old, own }) =>
    tokenPrices.flatMap((name) => {
      const [from, to] = [old[name], own[name]]
      return from === undefined || to === undefined ? [] : [[toNanos(from), toNanos(to)] as const]
    }),
  )
  const first = changes.find(([from]) => from > 0)
  if (!first) return undefined
  const scale = 10 ** factorDecimals
  const scaled = Math.round((first[1] / first[0]) * scale)
  const isExact = changes.every(([from, to]) => from * scaled === to * scale)
  return isExact ? scaled / scale : undefined
}

function toNanos(usd: number): number {
  return Math.round(usd * 1e9)
}

/** Writes tiers with the same entries as one. */
function joinTiers(entries: readonly PriceEntrySettings[]): readonly PriceEntrySettings[] {
  const others = entries.filter(({ tier }) => tier === undefined)
  const names = new Set(entries.flatMap(({ tier }) => (typeof tier === 'string' ? tier : [])))
  const groups = new Map<string, { tiers: string[]; own: readonly PriceEntrySettings[] }>()
  for (const name of names) {
    const own = entries.filter(({ tier }) => tier === name)
    const key = JSON.stringify(own.map((entry) => ({ ...entry, tier: undefined })))
    const group = groups.get(key)
    if (group) group.tiers.push(name)
    else groups.set(key, { tiers: [name], own })
  }
  const joined = [...groups.values()].flatMap(({ tiers, own }) => {
    const [only = '', ...more] = tiers
    return own.map((entry) => ({ ...entry, tier: more.length === 0 ? only : tiers }))
  })
  return [...others, ...joined]
}
