import { type Cell, tokenPrices } from '../../adapters/node/prices/settings.ts'
import { findTierCell, type Sheet, type Step, type Tier } from '../../adapters/node/prices/sheet.ts'

/** A price in which the catalogues differ. */
export interface Difference {
  /** Where: `base`, `above 200000`, `flex` or `flex above 200000`. */
  readonly where: string
  readonly price: string
  readonly litellm: number
  readonly genaiPrices: number
}

/** Lists the prices that both catalogues have and that are not equal. */
export function listDifferences(litellm: Sheet, genai: Sheet): readonly Difference[] {
  const parts = [
    ...comparePart('', litellm, genai),
    ...litellm.tiers.flatMap((tier) => {
      const other = genai.tiers.find((each) => each.tier === tier.tier)
      return other ? [...comparePart(tier.tier, tier, other)] : []
    }),
  ]
  const tools = Object.entries(litellm.fees.tool_costs_per_1k ?? {}).flatMap(([tool, price]) => {
    const other = Object.entries(genai.fees.tool_costs_per_1k ?? {}).find(([name]) => name === tool)
    return other === undefined || other[1] === price
      ? []
      : [{ where: 'tools', price: tool, litellm: price, genaiPrices: other[1] }]
  })
  return [...parts, ...tools]
}

type Part = Pick<Sheet, 'base' | 'steps'>

function* comparePart(name: string, litellm: Part, genai: Part): Generator<Difference> {
  yield* compareCells(name || 'base', litellm.base, genai.base)
  for (const { above, prices } of litellm.steps) {
    const other = genai.steps.find((step) => isSameStep(step.above, above))
    if (other) yield* compareCells(`${name} above ${above}`.trim(), prices, other.prices)
  }
}

/** The two disagree on whether a step begins at its bound or behind it. */
function isSameStep(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1
}

function* compareCells(where: string, litellm: Cell, genai: Cell): Generator<Difference> {
  for (const price of tokenPrices) {
    const [own, other] = [litellm[price], genai[price]]
    if (own === undefined || other === undefined || own === other) continue
    yield { where, price, litellm: own, genaiPrices: other }
  }
}

/** Joins what two catalogues have. The first one wins where they differ. */
export function mergeSheets(first: Sheet, second: Sheet): Sheet {
  const factors = first.factors.length > 0 ? first.factors : second.factors
  const names = [...first.tiers, ...second.tiers].map(({ tier }) => tier)
  // A factor of a tier says the same as its prices.
  const tiers = new Set(names.filter((tier) => !factors.some((factor) => factor.tier === tier)))
  const tools = { ...second.fees.tool_costs_per_1k, ...first.fees.tool_costs_per_1k }
  return {
    ...mergeParts(first, second),
    fees: {
      ...second.fees,
      ...first.fees,
      ...(Object.keys(tools).length > 0 && { tool_costs_per_1k: tools }),
    },
    tiers: [...tiers].map((tier): Tier => {
      const [own, other] = [first, second].map(({ tiers: all }) =>
        all.find((each) => each.tier === tier),
      )
      const steps = own ? raiseSteps(other?.steps ?? [], first, own) : (other?.steps ?? [])
      return { tier, ...mergeParts(own ?? noPart, { base: other?.base ?? {}, steps }) }
    }),
    factors,
    windows: first.windows.length > 0 ? first.windows : second.windows,
    later: first.later.length > 0 ? first.later : second.later,
    places: { ...second.places, ...first.places },
    unread: [...new Set([...first.unread, ...second.unread])],
  }
}

/**
 * Where only one catalogue has a step in a tier, the other one means other prices. The dearer one keeps
 * a budget.
 */
function raiseSteps(steps: readonly Step[], first: Sheet, own: Tier): readonly Step[] {
  return steps.map((step) => {
    const { above, prices } = step
    if (own.steps.some((each) => isSameStep(each.above, above))) return step
    const implied = findTierCell(first, own, above)
    const raised = tokenPrices.flatMap((name) => {
      const price = prices[name]
      return price === undefined ? [] : [[name, Math.max(price, implied[name] ?? 0)] as const]
    })
    return { above, prices: Object.fromEntries(raised) }
  })
}

const noPart: Part = { base: {}, steps: [] }

function mergeParts(first: Part, second: Part): Part {
  const own = first.steps.map((step): Step => {
    const other = second.steps.find(({ above }) => isSameStep(above, step.above))
    return { above: step.above, prices: { ...other?.prices, ...step.prices } }
  })
  const others = second.steps.filter(
    ({ above }) => !own.some((step) => isSameStep(step.above, above)),
  )
  return {
    base: { ...second.base, ...first.base },
    steps: [...own, ...others].sort((a, b) => a.above - b.above),
  }
}
