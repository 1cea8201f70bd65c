import type { UsageEstimate } from '../core/admission.ts'
import type { Model } from '../core/provider.ts'
import type { ModelRoute } from '../core/route.ts'
import { estimateMaxLinkCost } from '../pricing/index.ts'

export interface CostOptions {
  readonly estimate: () => UsageEstimate
  /** Output tokens to assume where neither the request nor the model sets a bound. */
  readonly reserveOutputTokens: number
}

/** The most that a request may cost on each target of a route; empty unless the route orders by it. */
export function estimateCosts(
  { balance }: ModelRoute,
  { estimate, reserveOutputTokens }: CostOptions,
): ReadonlyMap<Model, bigint> {
  if (balance?.strategy !== 'cheapest') return none
  const usage = estimate()
  return new Map(
    balance.targets.map(({ model }) => [
      model,
      estimateMaxLinkCost(model, usage, reserveOutputTokens),
    ]),
  )
}

const none: ReadonlyMap<Model, bigint> = new Map()
