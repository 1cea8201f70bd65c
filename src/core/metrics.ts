/** The labels of one series by name. The names are those that its metric was made with. */
export type Labels = Readonly<Record<string, string | number>>

export interface MetricSpec {
  readonly name: string
  readonly help: string
  readonly labelNames?: readonly string[]
}

export interface HistogramSpec extends MetricSpec {
  /** Upper bounds, ascending, without the infinite one. */
  readonly buckets: readonly number[]
}

export interface Counter {
  inc(amount?: number): void
  inc(labels: Labels, amount?: number): void
}

export interface Histogram {
  observe(value: number): void
  observe(labels: Labels, value: number): void
}

/** One line of an exposition. */
export interface Sample {
  /** Where it differs from that of its metric: `…_bucket`, `…_sum` and `…_count` of a histogram. */
  readonly name?: string | undefined
  readonly labels: Labels
  readonly value: number
}

/** A metric that the gateway keeps by itself. Its samples are read at each scrape. */
export interface ReadMetric {
  readonly name: string
  readonly help: string
  readonly type: 'gauge' | 'histogram'
  samples(): readonly Sample[]
}

/** Makes metrics. Each name is used once. */
export interface Meters {
  counter(spec: MetricSpec): Counter
  histogram(spec: HistogramSpec): Histogram
  read(metric: ReadMetric): void
}

/** The metrics of one gateway, and the text of `GET /metrics`. */
export interface MetricsPort extends Meters {
  /** The content type of the exposition. */
  readonly contentType: string
  /** Every series as it is now. */
  exposition(): Promise<string>
}
