import { isPattern } from '../core/model-pattern.ts'
import type { PriceCatalogue } from '../core/price-catalogue.ts'
import { priceNames } from '../core/price-settings.ts'
import type { ModelConfig } from './model-schema.ts'
import { toProfileSettings } from './profile-schema.ts'
import type { ParsedProvider, ProviderConfig } from './provider-schema.ts'
import type { Config, ParsedConfig } from './schema.ts'

/** True when a model takes prices from the table of the host. */
export function needsPrices({ providers }: ParsedConfig): boolean {
  return providers.some(({ models }) => models.some(({ prices }) => prices === 'table'))
}

/**
 * Fills the prices that entries with `prices = "table"` leave out. Those of a pattern are filled for each model that it
 * serves. Without a catalogue they stay absent.
 */
export function fillPrices(config: ParsedConfig, catalogue: PriceCatalogue | undefined): Config {
  const providers = config.providers.map((provider): ProviderConfig => {
    const models = provider.models.map(({ prices, ...entry }): ModelConfig => {
      if (prices !== 'table') return { ...entry, prices }
      const fill = (model: ModelConfig) => fillModel(model, { provider, catalogue })
      const own: ModelConfig = { ...entry, prices: [], usesTable: true }
      return isPattern(entry.id) ? { ...own, fillPrices: fill } : fill(own)
    })
    return { ...provider, models }
  })
  return { ...config, providers }
}

interface FillParts {
  readonly provider: ParsedProvider
  readonly catalogue: PriceCatalogue | undefined
}

function fillModel(model: ModelConfig, { provider, catalogue }: FillParts): ModelConfig {
  const settings = toProfileSettings([model.profile, provider.profile])
  const found = catalogue?.find({
    kind: provider.kind,
    baseUrl: provider.base_url,
    profiles: settings
      .map((setting) => (typeof setting === 'string' ? setting : setting.base))
      .filter((name) => name !== undefined),
    upstreamId: model.upstream_id ?? model.id,
    capabilities: model.capabilities,
    hasFactor: provider.price_multiplier !== undefined,
  })
  if (!found) return model
  const missing = priceNames.filter((name) => model[name] === undefined && name in found)
  const tools = fillTools(model, found['tool_costs_per_1k'])
  return {
    ...model,
    ...Object.fromEntries(missing.map((name) => [name, found[name]])),
    ...(tools && { tool_costs_per_1k: tools }),
    // The table is in the form of the settings.
    ...(found['prices'] !== undefined && { prices: found['prices'] as ModelConfig['prices'] }),
  }
}

type ToolCosts = NonNullable<ModelConfig['tool_costs_per_1k']>

/** A fee of the entry comes before that of the table, also under its other name. */
function fillTools(
  { tool_costs_per_1k: own, cost_per_1k_web_searches: perSearch }: ModelConfig,
  listed: unknown,
): ToolCosts | undefined {
  if (listed === undefined) return own
  // The table is in the form of the settings.
  const { web_search: search, ...others } = listed as ToolCosts
  return {
    ...others,
    ...(perSearch === undefined && search !== undefined && { web_search: search }),
    ...own,
  }
}
