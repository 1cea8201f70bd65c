import type { Millis } from '../core/ids.ts'
import { priceNames } from '../core/price-settings.ts'
import type { PriceAsk, PriceFacts, PriceTable, ResolvedPrices } from '../core/price-table.ts'
import { hasModalityPrice } from '../core/prices.ts'
import { type Factor, multiplyFactor, one } from './factor.ts'
import { type ConfiguredPrices, readToolCosts, toPrices } from './prices.ts'
import { type ConfiguredWindow, createWindow, minute } from './windows.ts'

/** One of `[[providers.models.prices]]`. */
export interface ConfiguredEntry extends ConfiguredPrices, ConfiguredWindow {
  /** The entry holds for prompts with more tokens than this. */
  readonly above_input?: number | undefined
  readonly tier?: string | readonly string[] | undefined
  readonly geo?: string | readonly string[] | undefined
  /** A factor for all prices of tokens. */
  readonly multiply?: number | undefined
}

export interface PriceTableOptions {
  /** The prices of the standard tier for short prompts. */
  readonly base: ConfiguredPrices
  readonly entries: readonly ConfiguredEntry[]
  /** A factor for all prices of tokens of the provider. */
  readonly multiplier: number | undefined
  /** What an absent tier, or `auto`, may become; the first is assumed where the answer names none. */
  readonly autoTiers: readonly [string, ...string[]]
  readonly autoGeos: readonly [string, ...string[]]
  /** A request may send calls for so long after its arrival. */
  readonly totalTimeout: Millis
}

/** Creates the prices of a model with entries. The vectors are computed once for each set of entries. */
export function createPriceTable(options: PriceTableOptions): PriceTable {
  return new EntryTable(options)
}

/** Converts the prices of a model without entries. */
export function toBasePrices(base: ConfiguredPrices, multiplier: number | undefined) {
  return toPrices(base, toFactor(multiplier))
}

function toFactor(multiplier: number | undefined): Factor {
  return multiplier === undefined ? one : multiplyFactor(one, multiplier)
}

/**
 * The prompt of a request may have so many quarters more tokens than its estimate before the estimate misses a
 * step: bytes of code and of many languages have more tokens than the estimate assumes.
 */
const marginNumerator = 5
const marginDenominator = 4

/** The answers of `listReachable` that are kept. Tiers come from clients, but only named ones make a difference. */
const maxKept = 500

class EntryTable implements PriceTable {
  readonly assumed: PriceTable['assumed']
  readonly hasModalities: boolean
  readonly #options: PriceTableOptions
  readonly #entries: readonly Entry[]
  readonly #tiers: ReadonlySet<string>
  readonly #geos: ReadonlySet<string>
  /** The sizes of prompts, one for each range between two steps. */
  readonly #sizes: readonly number[]
  readonly #isTimed: boolean
  /** By the places of the entries that hold. */
  readonly #resolved = new Map<string, ResolvedPrices>()
  readonly #reachable = new Map<string, readonly ResolvedPrices[]>()

  constructor(options: PriceTableOptions) {
    this.#options = options
    this.#entries = options.entries.map(toEntry)
    this.#tiers = new Set(this.#entries.flatMap(({ tiers }) => [...(tiers ?? [])]))
    this.#geos = new Set(this.#entries.flatMap(({ geos }) => [...(geos ?? [])]))
    const steps = this.#entries.flatMap(({ above }) => (above === undefined ? [] : above + 1))
    this.#sizes = [...new Set([0, ...steps])].sort((a, b) => a - b)
    this.#isTimed = this.#entries.some(({ holdsAt }) => holdsAt)
    const vectors = [options.base, ...options.entries].map((prices) => toPrices(prices))
    this.hasModalities = vectors.some(hasModalityPrice)
    this.assumed = { tier: options.autoTiers[0], geo: options.autoGeos[0] }
  }

  resolve(facts: PriceFacts): ResolvedPrices {
    const tier = this.#nameTier(facts.tier)
    const places: number[] = []
    for (const [place, { above, tiers, geos, holdsAt }] of this.#entries.entries()) {
      if (above !== undefined && facts.promptTokens <= above) continue
      if (tiers && !tiers.has(tier)) continue
      if (geos && !geos.has(facts.geo)) continue
      if (holdsAt && !holdsAt(facts.at)) continue
      places.push(place)
    }
    const key = places.join()
    const known = this.#resolved.get(key)
    if (known) return known
    const made = this.#combine(places)
    this.#resolved.set(key, made)
    return made
  }

  listReachable(promptTokens: number, ask: PriceAsk): readonly ResolvedPrices[] {
    const { autoTiers, autoGeos } = this.#options
    const tiers = ask.tier === undefined ? autoTiers : [ask.tier, 'standard']
    const geos = ask.geo === undefined ? autoGeos : [ask.geo, 'global']
    const known = {
      tiers: this.#reduce(
        tiers.map((tier) => this.#nameTier(tier)),
        this.#tiers,
      ),
      geos: this.#reduce(geos, this.#geos),
    }
    const largest = Math.ceil((promptTokens * marginNumerator) / marginDenominator)
    const sizes = this.#sizes.filter((size) => size <= largest)
    const now = Math.floor(ask.at / minute)
    const key = `${sizes.length} ${known.tiers} ${known.geos} ${this.#isTimed ? now : ''}`
    const kept = this.#reachable.get(key)
    if (kept) return kept
    const found = new Set<ResolvedPrices>()
    for (const at of this.#listTimes(now)) {
      for (const size of sizes) {
        for (const tier of known.tiers) {
          for (const geo of known.geos)
            found.add(this.resolve({ promptTokens: size, tier, geo, at }))
        }
      }
    }
    if (this.#reachable.size === maxKept) this.#reachable.clear()
    const reachable = [...found]
    this.#reachable.set(key, reachable)
    return reachable
  }

  hasTier(tier: string): boolean {
    return tier === 'standard' || this.#tiers.size === 0 || this.#tiers.has(this.#nameTier(tier))
  }

  /** OpenAI calls its priority tier `fast` too: https://platform.openai.com/docs/guides/priority-processing */
  #nameTier(tier: string): string {
    return tier === 'fast' && !this.#tiers.has(tier) ? 'priority' : tier
  }

  /** Replaces names that no entry has by one. */
  #reduce(names: readonly string[], named: ReadonlySet<string>): readonly string[] {
    return [...new Set(names.map((name) => (named.has(name) ? name : '')))]
  }

  /** Lists the minutes in which a call may be sent, because windows begin and end at whole minutes. */
  #listTimes(now: number): readonly Millis[] {
    if (!this.#isTimed) return [0]
    const minutes = Math.min(Math.ceil(this.#options.totalTimeout / minute) + 1, maxMinutes)
    return Array.from({ length: minutes + 1 }, (_, at) => (now + at) * minute)
  }

  #combine(places: readonly number[]): ResolvedPrices {
    const { base, multiplier } = this.#options
    const held = places.map((place) => this.#entries[place] as Entry)
    const given = [base, ...held.map((entry) => entry.prices)]
    const tools = given.map(readToolCosts).filter((costs) => costs !== undefined)
    const prices: ConfiguredPrices = {
      ...Object.assign({}, ...given),
      cost_per_1k_web_searches: undefined,
      // Each tool has a price of its own: a later entry keeps those that it does not name.
      tool_costs_per_1k: tools.length > 0 ? Object.assign({}, ...tools) : undefined,
    }
    const factor = held.reduce(
      (product, { multiply }) =>
        multiply === undefined ? product : multiplyFactor(product, multiply),
      toFactor(multiplier),
    )
    const label = held.map((entry) => entry.label).join(', ')
    return Object.freeze({ prices: toPrices(prices, factor), label: label || undefined })
  }
}

/** Times within a day and a week repeat, and no timeout is longer. */
const maxMinutes = 7 * 24 * 60

interface Entry {
  readonly above: number | undefined
  readonly tiers: ReadonlySet<string> | undefined
  readonly geos: ReadonlySet<string> | undefined
  readonly holdsAt: ((at: Millis) => boolean) | undefined
  readonly prices: ConfiguredPrices
  readonly multiply: number | undefined
  readonly label: string
}

function toEntry(configured: ConfiguredEntry): Entry {
  const named = priceNames.filter((name) => configured[name] !== undefined)
  return {
    above: configured.above_input,
    tiers: toNames(configured.tier),
    geos: toNames(configured.geo),
    holdsAt: createWindow(configured),
    prices: Object.fromEntries(named.map((name) => [name, configured[name]])),
    multiply: configured.multiply,
    label: describeEntry(configured),
  }
}

function toNames(names: string | readonly string[] | undefined): ReadonlySet<string> | undefined {
  return names === undefined ? undefined : new Set([names].flat())
}

/** Describes an entry in ASCII, for a header: `above 272000`, `priority x2`. */
export function describeEntry(entry: ConfiguredEntry): string {
  const { above_input: above, tier, geo, hours, days, time_zone: zone, from, until } = entry
  const parts = [
    ...(above === undefined ? [] : [`above ${above}`]),
    ...(tier === undefined ? [] : [[tier].flat().join('/')]),
    ...(geo === undefined ? [] : [`geo ${[geo].flat().join('/')}`]),
    ...(hours === undefined ? [] : [hours.join(' ')]),
    ...(days === undefined ? [] : [days.join(' ')]),
    ...(zone === undefined ? [] : [zone]),
    ...(from === undefined ? [] : [`from ${from}`]),
    ...(until === undefined ? [] : [`until ${until}`]),
    ...(entry.multiply === undefined ? [] : [`x${entry.multiply}`]),
  ]
  return parts.join(' ')
}
