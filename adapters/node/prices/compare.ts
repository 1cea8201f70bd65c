import type { Config, ModelConfig } from '../../../src/config/index.ts'
import { isPattern } from '../../../src/core/model-pattern.ts'
import type { ConfiguredEntry } from '../../../src/pricing/index.ts'
import type { Catalogue } from './catalogue.ts'
import { listMissing } from './missing.ts'
import { type Fees, type PriceEntrySettings, type PriceSettings, tokenPrices } from './settings.ts'
import { findVendor, placePrices, type VendorKind } from './vendor.ts'

type Tools = NonNullable<Fees['tool_costs_per_1k']>

/** A setting of the catalogue that a model has not. */
export interface PriceChange {
  readonly field: keyof PriceSettings | 'cost_per_1k_web_searches'
  /** The price in the file; undefined without one. */
  readonly before: number | Tools | undefined
  readonly after: number | Tools
}

/** A model of the file beside the catalogue. */
export interface ComparedModel {
  readonly provider: string
  readonly model: string
  /** The positions of the provider and the model in the file. */
  readonly at: readonly [number, number]
  readonly changes: readonly PriceChange[]
  /** All prices of the catalogue. */
  readonly settings: PriceSettings
  /** The entries of the catalogue whose prices the file does not have, those of later dates among them. */
  readonly missing: readonly PriceEntrySettings[]
  /** The entries of the file. */
  readonly own: readonly ConfiguredEntry[]
}

export interface Comparison {
  readonly models: readonly ComparedModel[]
  /** The ids of the models that the catalogue does not know. */
  readonly unknown: readonly string[]
}

export interface CompareOptions {
  readonly catalogue: Catalogue
  readonly kinds: readonly VendorKind[]
}

/** Compares the prices of a configuration with those of a catalogue, whatever the time. */
export function comparePrices(
  { providers }: Pick<Config, 'providers'>,
  { catalogue, kinds }: CompareOptions,
): Comparison {
  const models: ComparedModel[] = []
  const unknown: string[] = []
  for (const [providerAt, provider] of providers.entries()) {
    const vendor = findVendor(provider, kinds)
    for (const [modelAt, model] of provider.models.entries()) {
      // Its prices are those of the table, or depend on the id that it serves.
      if (model.usesTable || isPattern(model.id)) continue
      const found = vendor && catalogue.find(vendor.kind, model.upstream_id ?? model.id)
      if (!found) {
        unknown.push(model.id)
        continue
      }
      // A factor of the provider's own is in place of the vendor's.
      const place = provider.price_multiplier === undefined ? vendor.place : undefined
      const settings = selectSettings(placePrices(found, place), model)
      models.push({
        provider: provider.name,
        model: model.id,
        at: [providerAt, modelAt],
        changes: listChanges(model, settings),
        settings,
        missing: listMissing(model.prices, settings),
        own: model.prices,
      })
    }
  }
  return { models, unknown }
}

/** Only a chat model has an output that is charged, and only it runs tools. */
export function selectSettings(
  settings: PriceSettings,
  { capabilities }: Pick<ModelConfig, 'capabilities'>,
): PriceSettings {
  if (capabilities.includes('chat')) return settings
  if (capabilities.includes('decisions')) return dropOutput(settings)
  const { cost_per_1m_input: input, cost_per_1k_searches: searches, prices } = settings
  const isBySearch = searches !== undefined && input === 0
  return {
    ...(input !== undefined && !isBySearch && { cost_per_1m_input: input }),
    ...(searches !== undefined && { cost_per_1k_searches: searches }),
    ...(prices && { prices }),
  }
}

/**
 * Decisions read and write the cache of prompts, and have no service tiers. Catalogues have the output of a model at its
 * price for chat.
 */
function dropOutput(settings: PriceSettings): PriceSettings {
  const entries = settings.prices
    ?.filter(({ tier }) => tier === undefined)
    .map(withoutOutput)
    .filter((entry) => 'multiply' in entry || inputPrices.some((name) => name in entry))
  return { ...withoutOutput(settings), ...(entries && { prices: entries }) }
}

const isOutput = (name: string) =>
  /_(?:output|reasoning)$/.test(name) || name === 'tool_costs_per_1k'
const inputPrices = tokenPrices.filter((name) => !isOutput(name))

function withoutOutput<Prices extends object>(prices: Prices): Prices {
  // Every price of tokens is optional.
  return Object.fromEntries(Object.entries(prices).filter(([name]) => !isOutput(name))) as Prices
}

const numberFields = [...tokenPrices, 'cost_per_1k_searches', 'cost_per_1k_requests'] as const

function listChanges(model: ModelConfig, settings: PriceSettings): readonly PriceChange[] {
  const changes = numberFields.flatMap((field): PriceChange[] => {
    const [before, after] = [model[field], settings[field]]
    return after === undefined || before === after ? [] : [{ field, before, after }]
  })
  return [...changes, ...listToolChanges(model, settings.tool_costs_per_1k ?? {})]
}

/** The fees of tools that only the file has stay, and so does the other name of the fee of a search. */
function* listToolChanges(
  { cost_per_1k_web_searches: perSearch, tool_costs_per_1k: own = {} }: ModelConfig,
  tools: Tools,
): Generator<PriceChange> {
  const { web_search: after, ...others } = tools
  if (perSearch !== undefined && after !== undefined && after !== perSearch) {
    yield { field: 'cost_per_1k_web_searches', before: perSearch, after }
  }
  const named = Object.entries(perSearch === undefined ? tools : others)
  const known: Readonly<Record<string, number | undefined>> = own
  if (named.every(([tool, price]) => known[tool] === price)) return
  const before = Object.keys(own).length === 0 ? undefined : (own as Tools)
  yield { field: 'tool_costs_per_1k', before, after: { ...before, ...Object.fromEntries(named) } }
}
