import type { UsageEstimate } from '../../src/core/admission.ts'
import type { PriceAsk } from '../../src/core/price-table.ts'
import type { Model } from '../../src/core/provider.ts'
import type { Usage } from '../../src/core/usage.ts'
import {
  type ConfiguredEntry,
  type ConfiguredPrices,
  createPriceTable,
  priceAnswer,
  toPrices,
} from '../../src/pricing/index.ts'
import { link, writing } from './support.ts'

/** What a request asks of a model whose price depends on it. */
export interface PricedDemand {
  readonly prompt: number
  /** The bound of one choice; undefined: none is set. */
  readonly output: number | undefined
  readonly choices: number
  readonly tier: 'priority' | undefined
  readonly hasAudio: boolean
  /** How often the vendor may search the web, for each choice. */
  readonly searches: number
}

/** What an answer uses of that. */
export interface PricedUse {
  readonly prompt: number
  readonly output: number
  readonly searches: number
  /** The answer names the tier that was asked for; else it says that the standard one has served. */
  readonly isAsked: boolean
}

/** Creates a model with these prices. A call is sent a minute after its request at the latest. */
export function createPricedModel(
  base: ConfiguredPrices,
  entries: readonly ConfiguredEntry[],
): Model {
  return link(toPrices(base), {
    priceTable: createPriceTable({
      base,
      entries,
      multiplier: undefined,
      autoTiers: ['standard'],
      autoGeos: ['global'],
      totalTimeout: 60_000,
    }),
    toolReserve: { calls: 4, tokens: 0, ofStored: [] },
    upstreamId: 'm',
  })
}

export function estimateDemand(demand: PricedDemand, at: number): UsageEstimate {
  const { prompt, output, choices } = demand
  return {
    promptTokens: prompt,
    output: () => writing(output, choices),
    ask: askOf(demand, at),
  }
}

function askOf({ tier, hasAudio, searches }: PricedDemand, at: number): PriceAsk {
  return {
    tier,
    geo: undefined,
    at,
    hasStoredPrompt: false,
    mayCacheLong: false,
    modalities: { input: new Set(hasAudio ? ['audio'] : []), output: new Set() },
    tools: new Map(searches > 0 ? [['web_search', { calls: searches, isBounded: true }]] : []),
  }
}

/** Prices an answer to a request that arrived at `at`, by a call that was sent at `sentAt`. */
export function priceUse(
  model: Model,
  demand: PricedDemand,
  { use, at, sentAt }: { readonly use: PricedUse; readonly at: number; readonly sentAt: number },
): bigint {
  const { prompt, output, searches, isAsked } = use
  const usage: Usage = {
    promptTokens: prompt,
    completionTokens: output,
    totalTokens: prompt + output,
    webSearches: searches,
    billing: {
      tier: isAsked ? (demand.tier ?? 'standard') : 'standard',
      ...(demand.hasAudio && { modalities: { audioInput: prompt } }),
    },
    estimated: false,
  }
  return priceAnswer(model, { usage, searchUnits: undefined, ask: askOf(demand, at), sentAt }).cost
}

/** All that a request allows, or a part of it. */
export function useOf(
  { prompt, output = 0, choices, searches }: PricedDemand,
  { percent, isAsked }: { readonly percent: number; readonly isAsked: boolean },
): PricedUse {
  const part = (count: number) => Math.floor((count * percent) / 100)
  return {
    prompt: part(prompt),
    output: part(output * choices),
    searches: part(searches * choices),
    isAsked,
  }
}
