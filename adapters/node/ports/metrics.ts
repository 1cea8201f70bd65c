import { Counter, Histogram, type Metric, Registry } from 'prom-client'
import type { MetricsPort, ReadMetric } from '../../../src/index.ts'
import { addProcessSeries } from './process-series.ts'

/** The metrics of one gateway, with those of the process and of Node beside them. */
export function nodeMetrics(): MetricsPort {
  const registry = new Registry()
  addProcessSeries(registry)
  return metricsOn(registry)
}

/** Metrics kept in a registry of prom-client. */
export function metricsOn(registry: Registry): MetricsPort {
  const registers = [registry]
  return {
    counter: ({ name, help, labelNames = [] }) =>
      new Counter({ name, help, labelNames: [...labelNames], registers }),
    histogram: ({ name, help, labelNames = [], buckets }) =>
      new Histogram({ name, help, labelNames: [...labelNames], buckets: [...buckets], registers }),
    // A registry uses nothing of a metric but its name, `get` and `reset`.
    read: (metric) => registry.registerMetric(registered(metric) as unknown as Metric),
    contentType: registry.contentType,
    exposition: () => registry.metrics(),
  }
}

function registered(metric: ReadMetric) {
  const { name, help, type } = metric
  return {
    name,
    async get() {
      const values = metric
        .samples()
        .map(({ name: metricName = name, labels, value }) => ({ metricName, labels, value }))
      return { name, help, type, aggregator: 'sum', values }
    },
    reset() {},
  }
}
