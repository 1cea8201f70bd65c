import {
  type PriceSettings,
  type TokenPrice,
  tokenPrices,
} from '../../adapters/node/prices/settings.ts'
import { findCell, findTierCell, type Sheet } from '../../adapters/node/prices/sheet.ts'
import type { Prices } from '../../src/core/prices.ts'
import { createPriceTable, toBasePrices } from '../../src/pricing/index.ts'

/**
 * Resolves settings as the gateway does, for each size, tier, window and date of the catalogue, and says where the
 * prices are not those of the catalogue.
 */
export function findError(sheet: Sheet, settings: PriceSettings): string | undefined {
  const table = createPriceTable({
    base: settings,
    entries: settings.prices ?? [],
    multiplier: undefined,
    autoTiers: ['standard'],
    autoGeos: ['global'],
    totalTimeout: 0,
  })
  const sizes = [undefined, ...sheet.steps.map(({ above }) => above)]
  const quiet = findQuietTime(sheet)
  for (const above of sizes) {
    const promptTokens = above === undefined ? 1 : above + 1
    const at = { promptTokens, tier: 'standard', geo: 'global', at: quiet }
    const cases = [
      { name: 'standard', facts: at, cell: findCell(sheet.base, sheet.steps, above) },
      ...sheet.tiers.map((tier) => ({
        name: tier.tier,
        facts: { ...at, tier: tier.tier },
        cell: findTierCell(sheet, tier, above),
      })),
      ...sheet.later.map(({ from, base, steps }) => ({
        name: from,
        facts: { ...at, at: Date.parse(from) },
        cell: findCell(base, steps, above),
      })),
      ...sheet.windows.map(({ hours, prices }) => ({
        name: hours.join(),
        facts: { ...at, at: Date.parse(`2026-01-05T${hours[0]?.slice(0, 5)}Z`) },
        cell: { ...findCell(sheet.base, sheet.steps, above), ...prices },
      })),
    ]
    for (const { name, facts, cell } of cases) {
      const { prices } = table.resolve(facts)
      const expected = toBasePrices(cell, undefined)
      for (const price of tokenPrices) {
        const [own, wanted] = [read(prices, price), read(expected, price)]
        if (own !== wanted) return `${name} above ${above}: ${price} is ${own}, not ${wanted}`
      }
    }
  }
  return undefined
}

/** Returns a time of a Monday, before all dates, at which no window holds. */
function findQuietTime({ windows }: Sheet): number {
  const halves = Array.from({ length: 48 }, (_, half) => half)
  const free = halves.find((half) => {
    const time = `${String(Math.floor(half / 2)).padStart(2, '0')}:${half % 2 === 0 ? '00' : '30'}`
    return windows.every(({ hours }) =>
      hours.every((range) => {
        const [start = '', end = ''] = range.split('-')
        const isIn = time >= start && time < end
        return start < end ? !isIn : time < start && time >= end
      }),
    )
  })
  return Date.UTC(2026, 0, 5) + (free ?? 0) * 1_800_000
}

function read(prices: Prices, name: TokenPrice): bigint {
  const { cacheWrite12h = prices.cacheWrite, reasoning = prices.output } = prices
  const byName: Readonly<Record<TokenPrice, bigint>> = {
    cost_per_1m_audio_input: prices.audioInput ?? prices.input,
    cost_per_1m_image_input: prices.imageInput ?? prices.input,
    cost_per_1m_video_input: prices.videoInput ?? prices.input,
    cost_per_1m_cached_audio_input: prices.cachedAudioInput ?? prices.cachedInput,
    cost_per_1m_audio_output: prices.audioOutput ?? prices.output,
    cost_per_1m_image_output: prices.imageOutput ?? prices.output,
    cost_per_1m_input: prices.input,
    cost_per_1m_output: prices.output,
    cost_per_1m_reasoning: reasoning,
    cost_per_1m_cached_input: prices.cachedInput,
    cost_per_1m_cache_write: prices.cacheWrite,
    cost_per_1m_cache_write_1h: prices.cacheWrite1h,
    cost_per_1m_cache_write_12h: cacheWrite12h,
  }
  return byName[name]
}
