import type { Labels, Meters, ReadMetric, Sample } from '../core/metrics.ts'
import type { MetricSpec } from './counter.ts'
import { LabelledSeries, type LabelsOf } from './labelled-series.ts'

export interface HistogramSpec<Name extends string = string> extends MetricSpec<Name> {
  /** Upper bounds in ascending order, without `+Inf`. */
  readonly buckets: readonly number[]
}

interface Observed {
  /** The number of observations in each bucket, not cumulative; the last one is `+Inf`. */
  readonly counts: number[]
  sum: number
}

/** A histogram. */
export class Histogram<Name extends string = never> implements ReadMetric {
  readonly name: string
  readonly help: string
  readonly type = 'histogram'
  readonly #bounds: readonly number[]
  readonly #series: LabelledSeries<Name, Observed>

  constructor(meters: Meters, { name, help, labelNames = [], buckets }: HistogramSpec<Name>) {
    this.name = name
    this.help = help
    this.#bounds = buckets
    const create = () => ({ counts: [...buckets, Number.POSITIVE_INFINITY].map(() => 0), sum: 0 })
    this.#series = new LabelledSeries(labelNames, create)
    meters.read(this)
  }

  observe(labels: LabelsOf<Name>, value: number): void {
    const series = this.#series.find(labels)
    const bound = this.#bounds.findIndex((max) => value <= max)
    const at = bound < 0 ? this.#bounds.length : bound
    series.counts[at] = (series.counts[at] ?? 0) + 1
    series.sum += value
  }

  samples(): readonly Sample[] {
    return this.#series.list().flatMap(([labels, observed]) => this.#toSamples(labels, observed))
  }

  #toSamples(labels: Labels, { counts, sum }: Observed): Sample[] {
    const { name } = this
    let count = 0
    const buckets = [...this.#bounds, '+Inf'].map((le, at) => {
      count += counts[at] ?? 0
      return { name: `${name}_bucket`, labels: { ...labels, le }, value: count }
    })
    return [
      ...buckets,
      { name: `${name}_sum`, labels, value: sum },
      { name: `${name}_count`, labels, value: count },
    ]
  }
}
