import type { TokenCounts } from '../core/bill.ts'
import type { BillingFacts } from '../core/billing.ts'
import type { Millis, NanoUsd } from '../core/ids.ts'
import type { PriceAsk, PriceFacts } from '../core/price-table.ts'
import type { Prices } from '../core/prices.ts'
import type { Model } from '../core/provider.ts'
import type { RecordPrice } from '../core/request-record.ts'
import type { Usage } from '../core/usage.ts'
import { calculateCost, toCounts } from './cost.ts'
import { identifyPrices } from './identify.ts'
import { type PricedPart, readFees, sumParts, toBilledAnswer } from './parts.ts'

/** A finished request, as far as its price depends on it. */
export interface AnsweredRequest {
  readonly usage: Usage
  /** The unit that rerank is billed by. */
  readonly searchUnits: number | undefined
  /** Undefined where the prices of no link depend on it. */
  readonly ask: PriceAsk | undefined
  /** When the call that was answered was sent, on the wall clock. */
  readonly sentAt: Millis | undefined
}

/** The price of an answer, and what it was found by. */
export interface AnswerPrice extends RecordPrice {
  readonly cost: NanoUsd
}

/**
 * Prices an answer of a link: each call of a model by itself, at its own size. A call of another model is priced
 * as that model of the same provider, or as the link where the provider has no such model.
 */
export function priceAnswer(link: Model, answered: AnsweredRequest): AnswerPrice {
  const price = calculatePrice(link, answered)
  return link.isCostReported ? reportPrice(price, answered.usage) : price
}

/** The cost that the vendor states; without one, and for one of 0 although the prices are not, the calculated one. */
function reportPrice(price: AnswerPrice, { billing }: Usage): AnswerPrice {
  const stated = billing?.statedCost
  const calculated = price.cost
  const isReported = stated !== undefined && (stated > 0n || calculated === 0n)
  return { ...price, cost: isReported ? stated : calculated, calculated, isReported }
}

function calculatePrice(link: Model, answered: AnsweredRequest): AnswerPrice {
  const { usage, searchUnits } = answered
  const { billing } = usage
  if (!link.priceTable && billing?.runs === undefined) {
    const cost = calculateCost(link.prices, usage, searchUnits)
    const { tier, geo } = billing ?? noFacts
    return {
      cost,
      label: undefined,
      tier,
      geo,
      isApproximate: false,
      calculated: undefined,
      isReported: false,
      prices: identifyPrices(link.prices),
      answers: undefined,
    }
  }
  const whole = resolvePrices(link, usage.promptTokens, answered)
  const labels = new Set<string>()
  let isApproximate = false
  const parts: PricedPart[] = listRuns(usage).map((run) => {
    const model = findRunModel(link, run.model)
    if (!model) isApproximate = true
    const { prices, label } = resolvePrices(model ?? link, run.promptTokens, answered)
    if (label !== undefined) labels.add(label)
    return { prices, tokens: run }
  })
  parts.push({ prices: whole.prices, fees: readFees(usage, searchUnits) })
  const hasRuns = billing?.runs !== undefined
  return {
    cost: sumParts(parts),
    label: labels.size === 0 ? undefined : [...labels].join('; '),
    tier: whole.tier,
    geo: whole.geo,
    isApproximate,
    calculated: undefined,
    isReported: false,
    prices: hasRuns ? undefined : identifyPrices(whole.prices),
    answers: hasRuns ? [toBilledAnswer(parts)] : undefined,
  }
}

const noFacts: BillingFacts = Object.freeze({})

function listRuns(usage: Usage): readonly TokenCounts[] {
  return usage.billing?.runs ?? [toCounts(usage)]
}

/** Undefined for a model that the provider does not have. */
function findRunModel(link: Model, model: string | undefined): Model | undefined {
  return model === undefined || model === link.upstreamId ? link : link.findSibling?.(model)
}

interface LinkPrices {
  readonly prices: Prices
  readonly label: string | undefined
  readonly tier: string | undefined
  readonly geo: string | undefined
}

/** What the answer says comes first, then what the request asks for, then what is assumed. */
function resolvePrices(
  { prices, priceTable }: Model,
  promptTokens: number,
  { usage: { billing }, ask, sentAt }: AnsweredRequest,
): LinkPrices {
  if (!priceTable) return { prices, label: undefined, tier: billing?.tier, geo: billing?.geo }
  const facts: PriceFacts = {
    promptTokens,
    tier: billing?.tier ?? ask?.tier ?? priceTable.assumed.tier,
    geo: billing?.geo ?? ask?.geo ?? priceTable.assumed.geo,
    at: sentAt ?? ask?.at ?? 0,
  }
  return { ...priceTable.resolve(facts), tier: facts.tier, geo: facts.geo }
}
