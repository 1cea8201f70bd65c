import type { Meters, ReadMetric, Sample } from '../core/metrics.ts'
import { LabelledSeries, type LabelsOf } from './labelled-series.ts'

export interface MetricSpec<Name extends string = string> {
  readonly name: string
  readonly help: string
  readonly labelNames?: readonly Name[]
}

/** A counter. One without labels is 0 from the beginning. */
export class Counter<Name extends string = never> implements ReadMetric {
  readonly name: string
  readonly help: string
  readonly type = 'counter'
  readonly #series: LabelledSeries<Name, { value: number }>

  constructor(meters: Meters, { name, help, labelNames = [] }: MetricSpec<Name>) {
    this.name = name
    this.help = help
    this.#series = new LabelledSeries(labelNames, () => ({ value: 0 }))
    meters.read(this)
  }

  inc(labels: LabelsOf<Name>, amount = 1): void {
    this.#series.find(labels).value += amount
  }

  samples(): readonly Sample[] {
    return this.#series.list().map(([labels, { value }]) => ({ labels, value }))
  }
}
