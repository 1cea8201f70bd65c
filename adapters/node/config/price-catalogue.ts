import type { Config, ModelConfig, ProviderConfig } from '../../../src/config/index.ts'

/** The settings of prices that the catalogue knows, in US dollars per million tokens. */
const fields = {
  cost_per_1m_input: 'input_mtok',
  cost_per_1m_output: 'output_mtok',
  cost_per_1m_cached_input: 'cache_read_mtok',
  cost_per_1m_cache_write: 'cache_write_mtok',
  cost_per_1m_cache_write_1h: 'cache_write_1h_mtok',
} as const

export type PriceField = keyof typeof fields

/** A price of the catalogue that a model has not. */
export interface PriceChange {
  readonly provider: string
  readonly model: string
  /** The positions of the provider and the model in the file. */
  readonly at: readonly [number, number]
  readonly field: PriceField
  /** The price in the file; undefined without one. */
  readonly before: number | undefined
  readonly after: number
  /** The price holds up to so many tokens of the prompt; beyond that the vendor asks another one. */
  readonly upTo: number | undefined
  /** The vendor asks less at other times of the day. */
  readonly isPeak: boolean
}

/** Prices that the catalogue announces for a later date. */
export interface UpcomingPrices {
  readonly provider: string
  readonly model: string
  /** The first day, in UTC: `YYYY-MM-DD`. */
  readonly from: string
  /** Only those that change. */
  readonly prices: Readonly<Partial<Record<PriceField, number>>>
}

export interface PriceComparison {
  readonly changes: readonly PriceChange[]
  /** By date. */
  readonly upcoming: readonly UpcomingPrices[]
  /** The ids of the models that the catalogue does not know, and of those for rerank. */
  readonly unknown: readonly string[]
}

/**
 * Compares the prices of a configuration with those that the catalogue has for a day in UTC, given as
 * `YYYY-MM-DD`. Of prices that differ by the time of day the highest counts, so that the result does not depend
 * on the hour, and a budget holds at every one. Needs no network.
 */
export async function comparePrices(
  { providers }: Pick<Config, 'providers'>,
  day: string,
): Promise<PriceComparison> {
  // Loaded here: the catalogue is large, and only this command needs it.
  const { calcPrice, findProvider } = await import('@pydantic/genai-prices')
  const changes: PriceChange[] = []
  const upcoming: UpcomingPrices[] = []
  const unknown: string[] = []
  for (const [providerAt, provider] of providers.entries()) {
    const vendor = findProvider(toVendor(provider))
    for (const [modelAt, model] of provider.models.entries()) {
      const usage = { input_tokens: 1, ...(isChat(model) && { output_tokens: 1 }) }
      const find = (timestamp: Date) =>
        vendor && calcPrice(usage, model.upstream_id ?? model.id, { provider: vendor, timestamp })
      const found = find(toInstant(day, midnight))
      if (!found || isRerank(model)) {
        unknown.push(model.id)
        continue
      }
      const conditions = listConditions(found.model.prices)
      const listOn = (date: string) =>
        findHighest(
          listTurns(conditions).map((time) =>
            listPrices(find(toInstant(date, time))?.model_price ?? {}, model),
          ),
        )
      const prices = listOn(day)
      upcoming.push(
        ...listLater(conditions, day).flatMap((from) => {
          const later = findDifferent(listOn(from), prices)
          if (Object.keys(later).length === 0) return []
          return [{ provider: provider.name, model: model.id, from, prices: later }]
        }),
      )
      for (const [field, price] of prices) {
        if (model[field] === price.price) continue
        changes.push({
          provider: provider.name,
          model: model.id,
          at: [providerAt, modelAt],
          field,
          before: model[field],
          after: price.price,
          upTo: price.upTo,
          isPeak: price.isPeak,
        })
      }
    }
  }
  return { changes, upcoming: upcoming.sort((a, b) => a.from.localeCompare(b.from)), unknown }
}

/** When a price of the catalogue holds: from a day on, or between two times of each day. */
type Condition = Partial<Readonly<Record<'start_date' | 'start_time' | 'end_time', string>>>

function listConditions(prices: unknown): readonly Condition[] {
  return Array.isArray(prices) ? prices.flatMap(({ constraint }) => constraint ?? []) : []
}

const midnight = '00:00:00Z'

/** Lists the times of day at which the prices of a model change, and the first. */
function listTurns(conditions: readonly Condition[]): readonly string[] {
  const turns = conditions.flatMap(({ start_time, end_time }) => [start_time, end_time])
  return [...new Set([midnight, ...turns])].filter((time) => time !== undefined)
}

/** Lists the later days on which the prices of a model change. */
function listLater(conditions: readonly Condition[], day: string): readonly string[] {
  const starts = conditions.map(({ start_date: start }) => start)
  return starts.filter((start) => start !== undefined).filter((start) => start > day)
}

function toInstant(day: string, time: string): Date {
  return new Date(`${day}T${time}`)
}

type ListedPrices = readonly (readonly [PriceField, Price])[]

/** Returns the highest of each price over the times of a day. */
function findHighest(times: readonly ListedPrices[]): ListedPrices {
  const highest = new Map<PriceField, Price>()
  for (const [field, price] of times.flat()) {
    const known = highest.get(field) ?? price
    const higher = price.price > known.price ? price : known
    const isPeak = known.isPeak || price.price !== known.price
    highest.set(field, { ...higher, isPeak })
  }
  return [...highest]
}

function findDifferent(later: ListedPrices, now: ListedPrices): UpcomingPrices['prices'] {
  const present = new Map(now)
  const changed = later.filter(([field, { price }]) => present.get(field)?.price !== price)
  return Object.fromEntries(changed.map(([field, { price }]) => [field, price]))
}

/** The names of vendors in the catalogue that differ from those of the kinds. */
const vendorNames: Readonly<Record<string, string>> = {
  bedrock: 'aws',
  vertex_ai: 'google',
  xai: 'x-ai',
  voyage: 'voyageai',
}

/** A server of its own address is another vendor, even when it speaks the API of the kind. */
function toVendor({ kind, base_url: address }: ProviderConfig) {
  const ownAddress = address !== undefined && !hostedAtCustomer.has(kind)
  return ownAddress ? { providerApiUrl: address } : { providerId: vendorNames[kind] ?? kind }
}

/** Kinds whose address is the customer's own, at the prices of the vendor. */
const hostedAtCustomer = new Set(['azure', 'bedrock', 'vertex_ai'])

function isChat({ capabilities }: ModelConfig): boolean {
  return capabilities.includes('chat')
}

function isRerank({ capabilities }: ModelConfig): boolean {
  return capabilities.every((capability) => capability === 'rerank')
}

interface Price {
  readonly price: number
  readonly upTo: number | undefined
  readonly isPeak: boolean
}

function listPrices(prices: Readonly<Record<string, unknown>>, model: ModelConfig): ListedPrices {
  // The entries of `fields` have its keys as names.
  const entries = Object.entries(fields) as [PriceField, string][]
  return entries.flatMap(([field, name]) => {
    if (field !== 'cost_per_1m_input' && !isChat(model)) return []
    const price = toPrice(prices[name])
    return price === undefined ? [] : [[field, price] as const]
  })
}

/** A price is a number, or a base with tiers for longer prompts. */
function toPrice(value: unknown): Price | undefined {
  if (typeof value === 'number') return { price: value, upTo: undefined, isPeak: false }
  const { base, tiers } = Object(value) as {
    readonly base?: unknown
    readonly tiers?: readonly { readonly start: number }[]
  }
  if (typeof base !== 'number') return undefined
  return { price: base, upTo: tiers?.[0]?.start, isPeak: false }
}
