import type { Millis } from './ids.ts'

/** The labels of one series. Their names are the `labelNames` of its metric. */
export type Labels = Readonly<Record<string, string | number>>

/** One line of an exposition. */
export interface Sample {
  /** The name, if it differs from that of the metric: `…_bucket`, `…_sum`, `…_count`. */
  readonly name?: string | undefined
  readonly labels: Labels
  readonly value: number
}

/** A metric whose values the gateway keeps itself. Its samples are read at each scrape. */
export interface ReadMetric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  samples(): readonly Sample[]
}

/** Takes the metrics of a gateway. Each name is used once. */
export interface Meters {
  read(metric: ReadMetric): void
}

/** What the host knows about its runtime. */
export interface RuntimeReadings {
  /** The version of Node. */
  readonly node: string
  /**
   * Returns the longest time for which the event loop was blocked since the read before the last one;
   * undefined where it is not measured.
   */
  readEventLoopLag(): Millis | undefined
}

/** The current values of one metric. */
export interface MetricValues extends Pick<ReadMetric, 'name' | 'help' | 'type'> {
  readonly samples: readonly Sample[]
}

/** The metrics of one gateway, and the text of `GET /metrics`. */
export interface MetricsPort extends Meters {
  /** Absent on a host that cannot tell. */
  readonly runtime?: RuntimeReadings | undefined
  /** The content type of the exposition. */
  readonly contentType: string
  /** Resolves to the current values of every metric. */
  collect(): Promise<readonly MetricValues[]>
  /** Resolves to the text of metrics; by default, of the current values of every metric. */
  exposition(metrics?: readonly MetricValues[]): Promise<string>
}
