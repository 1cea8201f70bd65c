import type { Config, ModelConfig } from '../../../src/config/index.ts'
import { describeEntry, readToolCosts } from '../../../src/pricing/index.ts'
import { type ComparedModel, type CompareOptions, comparePrices } from './compare.ts'
import { findMaxRatio } from './missing.ts'
import { tokenPrices } from './settings.ts'

/** A model of the file for which a catalogue has prices by which its requests may cost more. */
export interface FurtherPrices {
  readonly provider: string
  readonly model: string
  /** What the file does not have, such as `above 272000` or `web_search`. */
  readonly names: readonly string[]
  /** A token may cost so many times what the prices of the file say. */
  readonly maxRatio: number
}

/**
 * Lists the priced models of a configuration whose requests may cost more by prices of a catalogue that the file
 * does not have. A discount from the catalogue's prices makes no difference.
 */
export function listFurtherPrices(
  config: Pick<Config, 'providers'>,
  options: CompareOptions,
): readonly FurtherPrices[] {
  return comparePrices(config, options).models.flatMap((compared) => {
    const [providerAt, modelAt] = compared.at
    const model = config.providers[providerAt]?.models[modelAt]
    if (!model || !tokenPrices.some((name) => (model[name] ?? 0) > 0)) return []
    const ofBase = findMaxRatio(model, { ...compared.settings, prices: [] })
    const names = [
      ...listBase(model, compared),
      ...compared.missing
        .filter((entry) => findMaxRatio(model, { ...compared.settings, prices: [entry] }) > ofBase)
        .map((entry) => describeEntry({ ...entry, multiply: undefined })),
      ...listTools(model, compared),
    ]
    if (names.length === 0) return []
    const { provider, settings } = compared
    return [{ provider, model: model.id, names, maxRatio: findMaxRatio(model, settings) }]
  })
}

/** Lists the prices that are dearer than what holds in the file without them. */
function listBase(model: ModelConfig, { settings }: ComparedModel): readonly string[] {
  const { prices: _, ...base } = settings
  return tokenPrices
    .filter((name) => model[name] === undefined && base[name] !== undefined)
    .filter((name) => {
      const { cost_per_1m_input: input, cost_per_1m_output: output } = base
      const alone = { cost_per_1m_input: input, cost_per_1m_output: output, [name]: base[name] }
      return findMaxRatio(model, dropUndefined(alone)) > 1
    })
    .map((name) => name.replace('cost_per_1m_', ''))
}

function dropUndefined<Value extends object>(value: Value) {
  return Object.fromEntries(Object.entries(value).filter(([, own]) => own !== undefined))
}

function listTools(model: ModelConfig, { settings }: ComparedModel): readonly string[] {
  const own: Readonly<Record<string, number | undefined>> = readToolCosts(model) ?? {}
  const tools = Object.keys(settings.tool_costs_per_1k ?? {})
  return tools.filter((tool) => own[tool] === undefined)
}
