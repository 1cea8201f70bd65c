import type { Config, ModelConfig, ProviderConfig } from '../../src/config/index.ts'

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
}

export interface PriceComparison {
  readonly changes: readonly PriceChange[]
  /** The ids of the models that the catalogue does not know, and of those for rerank. */
  readonly unknown: readonly string[]
}

/** Compares the prices of a configuration with the catalogue, which needs no network. */
export async function comparePrices({ providers }: Config): Promise<PriceComparison> {
  // Loaded here: the catalogue is large, and only this command needs it.
  const { calcPrice, findProvider } = await import('@pydantic/genai-prices')
  const changes: PriceChange[] = []
  const unknown: string[] = []
  for (const [providerAt, provider] of providers.entries()) {
    const vendor = findProvider(toVendor(provider))
    for (const [modelAt, model] of provider.models.entries()) {
      const usage = { input_tokens: 1, ...(isChat(model) && { output_tokens: 1 }) }
      const found = vendor && calcPrice(usage, model.upstream_id ?? model.id, { provider: vendor })
      if (!found || isRerank(model)) {
        unknown.push(model.id)
        continue
      }
      for (const [field, price] of listPrices(found.model_price, model)) {
        if (model[field] === price.price) continue
        changes.push({
          provider: provider.name,
          model: model.id,
          at: [providerAt, modelAt],
          field,
          before: model[field],
          after: price.price,
          upTo: price.upTo,
        })
      }
    }
  }
  return { changes, unknown }
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
}

function listPrices(prices: Readonly<Record<string, unknown>>, model: ModelConfig) {
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
  if (typeof value === 'number') return { price: value, upTo: undefined }
  const { base, tiers } = Object(value) as {
    readonly base?: unknown
    readonly tiers?: readonly { readonly start: number }[]
  }
  return typeof base === 'number' ? { price: base, upTo: tiers?.[0]?.start } : undefined
}
