import { type BilledTool, vendorTools } from './billing.ts'
import type { Capability } from './capability.ts'
import { onlyDecides } from './decisions.ts'
import { priceNames } from './price-settings.ts'
import type { MissingPrices } from './prices.ts'

type Costs = Readonly<Partial<Record<BilledTool, number | undefined>>>

/** Prices as the configuration has them. */
type ConfiguredCosts = {
  readonly [Name in (typeof priceNames)[number]]?:
    | (Name extends 'tool_costs_per_1k' ? Costs : number)
    | undefined
}

/** A model with all its prices, as its configuration entry has them. */
export interface ConfiguredModel extends ConfiguredCosts {
  readonly capabilities: readonly Capability[]
  /** The prices that hold under conditions. */
  readonly prices: readonly ConfiguredCosts[]
}

/**
 * Lists the capabilities of a model whose answers have a cost that is not known, each with the setting that is
 * missing. A price of 0 is known, and so is a fee for each request in place of prices of tokens.
 */
export function findMissingPrices(model: ConfiguredModel): MissingPrices {
  const missing = model.capabilities.flatMap((capability) => {
    const setting = findMissingPrice(capability, model)
    return setting === undefined ? [] : [[capability, setting] as const]
  })
  return Object.fromEntries(missing)
}

function findMissingPrice(capability: Capability, model: ConfiguredModel): string | undefined {
  const {
    cost_per_1m_input: input,
    cost_per_1k_searches: searches,
    cost_per_1k_requests: requests,
  } = model
  const ofInput = (input ?? requests) === undefined ? 'cost_per_1m_input' : undefined
  switch (capability) {
    case 'chat':
      return findMissingChatPrice(model)
    case 'decisions':
      return onlyDecides(model) ? ofInput : findMissingChatPrice(model)
    case 'embed':
      return ofInput
    case 'rerank':
      return (searches ?? input ?? requests) === undefined ? 'cost_per_1k_searches' : undefined
    default:
      return capability satisfies never
  }
}

function findMissingChatPrice({
  cost_per_1m_input: input,
  cost_per_1m_output: output,
  cost_per_1k_requests: requests,
}: ConfiguredCosts): string | undefined {
  if (input !== undefined) return output === undefined ? 'cost_per_1m_output' : undefined
  return output === undefined && requests !== undefined ? undefined : 'cost_per_1m_input'
}

/** True when all prices that a model needs are configured as 0, and so is every other one that is configured. */
export function isFree(model: ConfiguredModel): boolean {
  if (Object.keys(findMissingPrices(model)).length > 0) return false
  return [model, ...model.prices].every((prices) =>
    priceNames
      .flatMap((name) => {
        const price = prices[name]
        return typeof price === 'object' ? Object.values(price) : [price]
      })
      .every((price) => price === undefined || price === 0),
  )
}

/** Lists the tools of the vendor that have a price, which may be 0. */
export function listPricedTools({
  cost_per_1k_web_searches: perSearch,
  tool_costs_per_1k: costs = {},
}: ConfiguredCosts): ReadonlySet<BilledTool> {
  const isPriced = (tool: BilledTool) =>
    costs[tool] !== undefined || (tool === 'web_search' && perSearch !== undefined)
  return new Set(vendorTools.filter(isPriced))
}
