import type { MetricsPort } from '../core/metrics.ts'
import type { Topic, Workers } from '../core/workers.ts'
import { type MetricPage, mergeMetrics } from './merge.ts'

export interface ExpositionOptions {
  readonly metrics: MetricsPort
  readonly workers: Workers
  /** Passes on the records that still wait in a batch. */
  readonly flushRecords: () => void
}

/** The answers are those of the workers, and of the process that started them. */
export const metricsTopic: Topic<undefined, MetricPage> = { name: 'metrics' }

/** Creates the function that writes the metrics of the whole gateway. */
export function createExposition(options: ExpositionOptions): () => Promise<string> {
  const { metrics, workers, flushRecords } = options
  if (workers.count === 1) {
    return () => {
      flushRecords()
      return metrics.exposition()
    }
  }
  workers.answer(metricsTopic, async () => {
    flushRecords()
    return { worker: String(workers.number), metrics: await metrics.collect() }
  })
  return async () => metrics.exposition(mergeMetrics(await workers.ask(metricsTopic, undefined)))
}
