import type { NanoUsd } from '../core/ids.ts'
import type { Meters, ReadMetric, Sample } from '../core/metrics.ts'
import { toUsd } from '../core/money.ts'
import { LabelledSeries, type LabelsOf } from './labelled-series.ts'
import { seriesTable } from './table.ts'

const { name, help, type, labelNames } = seriesTable.cost

/**
 * The counter of costs. It adds whole nano-dollars and converts the sum at the scrape, because a sum of
 * fractions of a dollar would drift from the usage log.
 */
export class CostTotals implements ReadMetric {
  readonly name = name
  readonly help = help
  readonly type = type
  readonly #totals = new LabelledSeries(labelNames, () => ({ nanoUsd: 0n }))

  constructor(meters: Meters) {
    meters.read(this)
  }

  add(labels: LabelsOf<(typeof labelNames)[number]>, cost: NanoUsd): void {
    this.#totals.find(labels).nanoUsd += cost
  }

  samples(): readonly Sample[] {
    return this.#totals.list().map(([labels, { nanoUsd }]) => ({
      labels,
      // A sum of amounts is an amount.
      value: toUsd(nanoUsd as NanoUsd),
    }))
  }
}
