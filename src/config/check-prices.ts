import { priceNames } from '../core/price-settings.ts'
import type { LenientPriceEntry, LenientProvider } from './lenient.ts'
import { type Finding, type Path, quoteName } from './problem.ts'

/** Checks the entries of `[[providers.models.prices]]`. */
export function* checkPrices(providers: readonly LenientProvider[]): Generator<Finding> {
  for (const [i, { models }] of providers.entries()) {
    for (const [j, model] of models.entries()) {
      const { prices } = model
      yield* checkToolCosts(['providers', i, 'models', j], model)
      for (const [k, entry] of prices.entries()) {
        const path = ['providers', i, 'models', j, 'prices', k]
        yield* checkEntry(path, entry)
        yield* checkToolCosts(path, entry)
        yield* checkStep(path, entry, prices.slice(0, k))
      }
    }
  }
}

type ToolCosts = Pick<LenientPriceEntry, 'cost_per_1k_web_searches' | 'tool_costs_per_1k'>

function* checkToolCosts(path: Path, given: ToolCosts): Generator<Finding> {
  if (given.cost_per_1k_web_searches === undefined) return
  if (given.tool_costs_per_1k?.['web_search'] === undefined) return
  const message = 'says the same as tool_costs_per_1k.web_search: keep one of them'
  yield { path: [...path, 'cost_per_1k_web_searches'], message }
}

const conditions = ['above_input', 'tier', 'geo', 'hours', 'from', 'until'] as const

function* checkEntry(path: Path, entry: LenientPriceEntry): Generator<Finding> {
  if (!conditions.some((name) => name in entry)) {
    yield { path, message: `needs a condition: ${conditions.join(', ')}` }
  }
  if (!('multiply' in entry) && !priceNames.some((name) => name in entry)) {
    yield { path, message: 'needs a price, or multiply' }
  }
  yield* checkHours(path, entry)
  const { from, until } = entry
  if (from !== undefined && until !== undefined && until <= from) {
    yield { path: [...path, 'until'], message: 'must be later than from' }
  }
}

/** Checks the settings of the hours of a day at which something holds. */
export function* checkHours(
  path: Path,
  window: { readonly time_zone?: string | undefined },
): Generator<Finding> {
  for (const name of ['days', 'time_zone'] as const) {
    if (name in window && !('hours' in window))
      yield { path: [...path, name], message: 'needs hours' }
  }
  const { time_zone: zone } = window
  if (zone !== undefined && !isTimeZone(zone)) {
    yield { path: [...path, 'time_zone'], message: `unknown time zone ${quoteName(zone)}` }
  }
}

/** A later step with a lower bound would take the place of an earlier one for prompts above both. */
function* checkStep(
  path: Path,
  entry: LenientPriceEntry,
  earlier: readonly LenientPriceEntry[],
): Generator<Finding> {
  const above = entry.above_input
  if (above === undefined) return
  const own = describeConditions(entry)
  const before = earlier.findLast(
    (other) => other.above_input !== undefined && describeConditions(other) === own,
  )?.above_input
  if (before === undefined || before < above) return
  const message = `must be more than ${before}, the step before it: steps rise`
  yield { path: [...path, 'above_input'], message }
}

/** The conditions of an entry besides its step. */
function describeConditions(entry: LenientPriceEntry): string {
  const { tier, geo, hours, days, time_zone: zone, from, until } = entry
  return JSON.stringify([tier, geo, hours, days, zone, from, until].map((one) => one ?? null))
}

function isTimeZone(timeZone: string): boolean {
  try {
    new Intl.DateTimeFormat('en-US', { timeZone })
    return true
  } catch {
    return false
  }
}
