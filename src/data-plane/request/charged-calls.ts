import type { BilledAnswer } from '../../core/bill.ts'
import type { NanoUsd } from '../../core/ids.ts'
import type { Model } from '../../core/provider.ts'
import type { ChargedCall } from '../../core/request-record.ts'
import type { Usage } from '../../core/usage.ts'
import { combineUsage } from '../../core/usage-sum.ts'
import { type AnswerPrice, readFees } from '../../pricing/index.ts'

/** An upstream call that its vendor bills. */
export interface BilledCall {
  readonly link: Model
  readonly usage: Usage
  /** Undefined for a model without prices. */
  readonly price: AnswerPrice | undefined
}

/** What the record of a request says of all its calls together. */
export interface CallSum {
  readonly usage: Usage
  readonly price: AnswerPrice | undefined
  /** Undefined where only the call that served is billed. */
  readonly charged: readonly ChargedCall[] | undefined
}

/** Adds the calls that failed, and are billed all the same, to the call that served, if one did. */
export function sumCalls(
  failed: readonly BilledCall[],
  served: BilledCall | undefined,
): CallSum | undefined {
  if (failed.length === 0) {
    return served && { usage: served.usage, price: served.price, charged: undefined }
  }
  const calls = served ? [...failed, served] : failed
  return {
    usage: calls.map(({ usage }) => usage).reduce(combineUsage),
    price: joinPrices(calls),
    charged: calls.map(({ link, usage, price }) => ({ link, usage, cost: price?.cost ?? free })),
  }
}

/** A model without prices has none. */
function listAnswers({ usage, price }: BilledCall): readonly BilledAnswer[] {
  if (price?.answers) return price.answers
  const prices = price?.prices
  return prices ? [[{ prices, tokens: usage, fees: readFees(usage, undefined) }]] : []
}

const free = 0n as NanoUsd

function addAmounts(amounts: readonly NanoUsd[]): NanoUsd {
  // A sum of nano-dollars.
  return amounts.reduce((sum: bigint, amount) => sum + amount, 0n) as NanoUsd
}

/** What was found is that of the last answer, but for the entries, which are those of all. */
function joinPrices(calls: readonly BilledCall[]): AnswerPrice | undefined {
  const prices = calls.flatMap(({ price }) => price ?? [])
  const last = prices.at(-1)
  if (!last) return undefined
  const labels = new Set(prices.flatMap(({ label }) => label ?? []))
  return {
    ...last,
    cost: addAmounts(prices.map(({ cost }) => cost)),
    calculated: prices.some(({ calculated }) => calculated !== undefined)
      ? addAmounts(prices.map(({ cost, calculated = cost }) => calculated))
      : undefined,
    isReported: prices.some(({ isReported }) => isReported),
    prices: undefined,
    answers: calls.flatMap(listAnswers),
    label: labels.size === 0 ? undefined : [...labels].join('; '),
    isApproximate: prices.some(({ isApproximate }) => isApproximate),
  }
}
