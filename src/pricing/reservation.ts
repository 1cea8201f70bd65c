import type { UsageEstimate } from '../core/admission.ts'
import type { NanoUsd } from '../core/ids.ts'
import type { CacheLife } from '../core/layout.ts'
import type { Model, Prices } from '../core/provider.ts'
import type { ProviderKind } from '../core/provider-kind.ts'
import type { ModelRoute } from '../core/route.ts'
import { millionthsPerNano, multiply, multiplySearches } from './cost.ts'

/** Estimates the tokens that a request uses at most: the debit of its TPM limit. */
export function estimateMaxTokens(
  chain: ModelRoute['chain'],
  { promptTokens, output }: UsageEstimate,
): number {
  if (!output) return promptTokens
  return promptTokens + Math.max(...chain.map((link) => output(link).maxTokens))
}

/**
 * Estimates what a request costs at most, at the prices of the most expensive link of its chain,
 * rounded up. `reserveOutputTokens` applies where neither the request nor the link bounds the output.
 */
export function estimateMaxCost(
  chain: ModelRoute['chain'],
  estimate: UsageEstimate,
  reserveOutputTokens: number,
): NanoUsd {
  const maxCost = chain
    .map((link) => estimateMaxLinkCost(link, estimate, reserveOutputTokens))
    .reduce((a, b) => (b > a ? b : a))
  return ((maxCost + millionthsPerNano - 1n) / millionthsPerNano) as NanoUsd
}

/** Estimates what a request costs at most on one link, in millionths of a nano-dollar. */
export function estimateMaxLinkCost(
  link: Model,
  estimate: UsageEstimate,
  reserveOutputTokens: number,
): bigint {
  const { prices } = link
  const { tokens, choices } = estimateMaxOutput(link, estimate, reserveOutputTokens)
  return (
    multiply(estimate.promptTokens, prices[findPromptPrice(link, estimate)]) +
    multiply(tokens, prices.output) * BigInt(choices) +
    multiplySearches(estimate.searchUnits, prices)
  )
}

/** The names of the prices that a token of a prompt may have. */
export type PromptPrice = keyof Pick<
  Prices,
  'input' | 'cachedInput' | 'cacheWrite' | 'cacheWrite1h'
>

/** Finds the dearest of the prices that the prompt of a request can have on a link. */
export function findPromptPrice(
  { prices, provider }: Model,
  { cacheLife }: Pick<UsageEstimate, 'cacheLife'>,
): PromptPrice {
  const reachable = cacheLife === undefined ? neverCached : listReachable(cacheLife, provider.kind)
  return reachable.reduce((dearest, name) => (prices[name] > prices[dearest] ? name : dearest))
}

/** Any vendor may read what it has cached before: by another request, with or without a mark in this one. */
function listReachable(life: CacheLife, { writesCache }: ProviderKind): readonly PromptPrice[] {
  switch (writesCache) {
    case 'never':
      return onlyRead
    case 'when-marked':
      return life === 'none' ? onlyRead : written[life]
    case undefined:
      return written[life === 'none' ? '5m' : life]
    default:
      return writesCache satisfies never
  }
}

const neverCached = Object.freeze(['input'] as const)
const onlyRead = Object.freeze(['input', 'cachedInput'] as const)

/** By the longest life of a mark. A vendor may write for a shorter time than it was asked to. */
const written = Object.freeze({
  '5m': Object.freeze(['input', 'cachedInput', 'cacheWrite'] as const),
  '1h': Object.freeze(['input', 'cachedInput', 'cacheWrite', 'cacheWrite1h'] as const),
})

/** Estimates the output of a link at most: the tokens of one choice, and how many choices there are. */
export function estimateMaxOutput(
  link: Model,
  { output }: UsageEstimate,
  reserveOutputTokens: number,
): { readonly tokens: number; readonly choices: number } {
  if (!output) return nothing
  const { maxTokens, isBounded, choices } = output(link)
  const { maxOutputTokens = reserveOutputTokens } = link
  return { tokens: isBounded ? maxTokens : Math.max(maxTokens, maxOutputTokens), choices }
}

const nothing = Object.freeze({ tokens: 0, choices: 0 })
