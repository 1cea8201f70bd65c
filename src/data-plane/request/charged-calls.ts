import type { NanoUsd } from '../../core/ids.ts'
import type { Model } from '../../core/provider.ts'
import type { ChargedCall } from '../../core/request-record.ts'
import type { Usage } from '../../core/usage.ts'
import { addUsage } from '../../core/usage-sum.ts'
import type { AnswerPrice } from '../../pricing/index.ts'

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
    usage: calls.map(({ usage }) => usage).reduce(addUsage),
    price: joinPrices(calls.flatMap(({ price }) => price ?? [])),
    charged: calls.map(({ link, usage, price }) => ({ link, usage, cost: price?.cost ?? free })),
  }
}

const free = 0n as NanoUsd

/** What was found is that of the last answer, but for the entries, which are those of all. */
function joinPrices(prices: readonly AnswerPrice[]): AnswerPrice | undefined {
  const last = prices.at(-1)
  if (!last) return undefined
  const labels = new Set(prices.flatMap(({ label }) => label ?? []))
  return {
    ...last,
    cost: prices.reduce((sum, { cost }) => sum + cost, 0n) as NanoUsd,
    label: labels.size === 0 ? undefined : [...labels].join('; '),
    isApproximate: prices.some(({ isApproximate }) => isApproximate),
  }
}
