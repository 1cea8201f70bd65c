import type { UsageEstimate } from '../../core/admission.ts'
import type { Model } from '../../core/provider.ts'
import type { ModelRoute } from '../../core/route.ts'
import { estimateMaxLinkCost } from '../../pricing/index.ts'
import type { Resilience } from '../../resilience/index.ts'
import { orderLinks, type PinnedSession, type Traffic } from '../../routing/index.ts'

/** What the order of the links of a route depends on. */
export interface OrderInput {
  readonly resilience: Pick<Resilience, 'breakers' | 'breaker'>
  readonly traffic: Traffic
  /** Returns the next number from 0 up to 1. */
  readonly random: () => number
  readonly isStream: boolean
  /** By the target; empty unless the route orders its targets by them. */
  readonly costs: ReadonlyMap<Model, bigint>
  /** The session of the request; undefined where it makes no difference. */
  readonly session: Pick<PinnedSession, 'target'> | undefined
}

/** Returns the links of a route in the order in which a request tries them. */
export function orderRoute(
  { balance, chain }: ModelRoute,
  { resilience: { breakers, breaker }, traffic, random, isStream, costs, session }: OrderInput,
): readonly Model[] {
  if (!balance) return chain
  return orderLinks(balance, {
    random,
    isOpen: (target) => breakers.isOpen(target),
    traffic,
    isStream,
    cooldown: breaker.cooldown,
    cost: (target) => costs.get(target) ?? 0n,
    pinned: session?.target,
  })
}

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
