import type { Weekday } from '../../../src/core/price-settings.ts'
import type { Cell, Fees } from './settings.ts'

/** The prices of one model as catalogues have them: whole prices for each condition. */
export interface Sheet {
  readonly base: Cell
  readonly fees: Fees
  /** Prices of longer prompts, ascending. A price that a step does not name is that of the step before it. */
  readonly steps: readonly Step[]
  /** A price that a tier does not name is the standard one for the same prompt. */
  readonly tiers: readonly Tier[]
  /** Factors that join all others. */
  readonly factors: readonly PriceFactor[]
  /** Prices at some hours, in UTC. */
  readonly windows: readonly Window[]
  /** Prices that are known for a later date, ascending. */
  readonly later: readonly Later[]
  /** Factors by a part of the vendor's address: `eu`, `us`, or `regional` for any place but the global one. */
  readonly places: Readonly<Record<string, number>>
  /** What the catalogue has and the settings have no name for. */
  readonly unread: readonly string[]
}

export interface Step {
  /** The step holds for prompts with more tokens. */
  readonly above: number
  readonly prices: Cell
}

export interface Tier {
  readonly tier: string
  readonly base: Cell
  readonly steps: readonly Step[]
}

export interface PriceFactor {
  readonly tier?: string
  readonly geo?: string
  readonly multiply: number
}

export interface Window {
  readonly hours: readonly string[]
  readonly days?: readonly Weekday[]
  readonly prices: Cell
}

export interface Later {
  /** The first day, in UTC: `YYYY-MM-DD`. */
  readonly from: string
  readonly base: Cell
  readonly steps: readonly Step[]
}

/** Returns the prices of a prompt with more tokens than `above`, all named ones together. */
export function findCell(base: Cell, steps: readonly Step[], above: number | undefined): Cell {
  if (above === undefined) return base
  return steps
    .filter((step) => step.above <= above)
    .reduce((cell, step) => ({ ...cell, ...step.prices }), base)
}

/** Returns the prices of a tier for a prompt with more tokens than `above`. */
export function findTierCell(sheet: Sheet, tier: Tier, above: number | undefined): Cell {
  const standard = findCell(sheet.base, sheet.steps, above)
  if (above === undefined) return { ...standard, ...tier.base }
  const named = new Set(
    sheet.steps.filter((step) => step.above <= above).flatMap(({ prices }) => Object.keys(prices)),
  )
  // A price that a standard step changes is not that of a short prompt in this tier.
  const kept = Object.entries(tier.base).filter(([name]) => !named.has(name))
  return { ...standard, ...Object.fromEntries(kept), ...findCell({}, tier.steps, above) }
}
