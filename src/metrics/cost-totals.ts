import type { NanoUsd } from '../core/ids.ts'
import type { Meters, ReadMetric, Sample } from '../core/metrics.ts'
import { toUsd } from '../core/money.ts'
import { table } from './table.ts'

/** The labels of one total. */
export interface CostLabels {
  readonly capability: string
  readonly model: string
  readonly provider: string
}

interface Total {
  readonly labels: Readonly<Record<keyof CostLabels, string>>
  nanoUsd: bigint
}

/**
 * The counter of costs. It adds whole nano-dollars and converts the sum at the scrape, because a sum of
 * fractions of a dollar would drift from the usage log.
 */
export class CostTotals implements ReadMetric {
  readonly name = table.cost.name
  readonly help = table.cost.help
  readonly type = table.cost.type
  readonly #totals = new Map<string, Total>()

  constructor(meters: Meters) {
    meters.read(this)
  }

  add({ capability, model, provider }: CostLabels, cost: NanoUsd): void {
    const key = `${capability}\n${provider}\n${model}`
    const total = this.#totals.get(key)
    if (total) total.nanoUsd += cost
    else this.#totals.set(key, { labels: { capability, model, provider }, nanoUsd: cost })
  }

  samples(): readonly Sample[] {
    // A sum of amounts is an amount.
    return Array.from(this.#totals.values(), ({ labels, nanoUsd }) => ({
      labels,
      value: toUsd(nanoUsd as NanoUsd),
    }))
  }
}
