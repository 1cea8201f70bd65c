import type { Millis } from '../../../src/core/ids.ts'
import type { PriceFacts, PriceTable } from '../../../src/core/price-table.ts'
import type { Prices } from '../../../src/core/prices.ts'
import {
  type ConfiguredEntry,
  type ConfiguredPrices,
  createPriceTable,
} from '../../../src/pricing/index.ts'
import type { PriceEntrySettings, PriceSettings } from './settings.ts'

/**
 * Lists the entries of a catalogue that hold at a prompt, a tier, a region or a time for which the entries of the
 * file give other prices. How the file has the same prices makes no difference. Both are seen with the base
 * prices of the catalogue, which are compared by themselves.
 */
export function listMissing(
  own: readonly ConfiguredEntry[],
  settings: PriceSettings,
): readonly PriceEntrySettings[] {
  const { prices: entries = [] } = settings
  if (entries.length === 0) return []
  const [listed, configured] = [entries, own].map((each) => toTable(settings, each)) as [
    PriceTable,
    PriceTable,
  ]
  return entries.filter((entry) =>
    listFacts(entry, entries).some(
      (facts) =>
        describe(listed.resolve(facts).prices) !== describe(configured.resolve(facts).prices),
    ),
  )
}

/**
 * Returns how many times as much as the file says a token may cost by the prices of a catalogue. The base prices of
 * input and output are taken as equal, so that a discount makes no difference.
 */
export function findMaxRatio(
  model: ConfiguredPrices & { readonly prices: readonly ConfiguredEntry[] },
  settings: PriceSettings,
): number {
  const { prices: entries = [] } = settings
  const listed = toTable(settings, entries)
  const configured = toTable(model, model.prices)
  const facts = [quiet, ...entries.flatMap((entry) => listFacts(entry, entries))]
  const ratios = facts.flatMap((each) => {
    const rises = listRises(listed, each)
    const own = listRises(configured, each)
    return rises.map((rise, at) => (rise === undefined ? 1 : rise / (own[at] || rise)))
  })
  return Math.max(1, ...ratios)
}

/** Lists the prices of a call relative to the base price of their side; undefined where that is 0. */
function listRises(table: PriceTable, facts: PriceFacts): readonly (number | undefined)[] {
  const base = table.resolve(quiet).prices
  const { prices } = table.resolve(facts)
  const { cacheWrite12h = prices.cacheWrite, reasoning = prices.output } = prices
  const divide = (price: bigint, by: bigint) => (by === 0n ? undefined : Number(price) / Number(by))
  return [
    divide(prices.input, base.input),
    divide(prices.cachedInput, base.input),
    divide(prices.cacheWrite, base.input),
    divide(prices.cacheWrite1h, base.input),
    divide(cacheWrite12h, base.input),
    divide(prices.audioInput ?? prices.input, base.input),
    divide(prices.imageInput ?? prices.input, base.input),
    divide(prices.videoInput ?? prices.input, base.input),
    divide(prices.cachedAudioInput ?? prices.cachedInput, base.input),
    divide(prices.output, base.output),
    divide(reasoning, base.output),
    divide(prices.audioOutput ?? prices.output, base.output),
    divide(prices.imageOutput ?? prices.output, base.output),
  ]
}

function toTable(base: ConfiguredPrices, entries: readonly ConfiguredEntry[]): PriceTable {
  return createPriceTable({
    base,
    entries,
    multiplier: undefined,
    autoTiers: ['standard'],
    autoGeos: ['global'],
    totalTimeout: 0,
  })
}

/** A Monday before all dates of a catalogue. */
const reference: Millis = Date.UTC(2020, 0, 6)
const quiet: PriceFacts = { promptTokens: 1, tier: 'standard', geo: 'global', at: reference }
const dayLength: Millis = 86_400_000
const daysFromMonday = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const

/** Lists a fact for each size of the prompt and each time at which an entry holds. */
function listFacts(
  entry: PriceEntrySettings,
  entries: readonly PriceEntrySettings[],
): readonly PriceFacts[] {
  const { above_input: least = 0, tier = 'standard', geo = 'global', hours, days, from } = entry
  const sizes = entries.flatMap(({ above_input: above = 0 }) => (above >= least ? above + 1 : []))
  const begin = from === undefined ? reference : Date.parse(from)
  const times = hours
    ? hours.flatMap((range) =>
        daysFromMonday.flatMap((day, number) =>
          days === undefined || days.includes(day)
            ? reference + number * dayLength + readStart(range)
            : [],
        ),
      )
    : [begin]
  return [...new Set([least + 1, ...sizes])].flatMap((promptTokens) =>
    [tier].flat().flatMap((name) => times.map((at) => ({ promptTokens, tier: name, geo, at }))),
  )
}

function readStart(range: string): Millis {
  const [hour = 0, minutes = 0] = range.slice(0, 'HH:MM'.length).split(':').map(Number)
  return (hour * 60 + minutes) * 60_000
}

function describe(prices: Prices): string {
  const { input, output, cachedInput, cacheWrite } = prices
  // What is not named has its default.
  const all = {
    reasoning: output,
    cacheWrite12h: cacheWrite,
    audioInput: input,
    imageInput: input,
    videoInput: input,
    cachedAudioInput: cachedInput,
    audioOutput: output,
    imageOutput: output,
    ...prices,
  }
  const text = (value: unknown) => (typeof value === 'bigint' ? String(value) : value)
  return JSON.stringify(
    Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)),
    (_, value) => text(value),
  )
}
