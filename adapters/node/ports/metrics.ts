import { Counter, collectDefaultMetrics, Histogram, type Metric, Registry } from 'prom-client'
import type { MetricsPort, ReadMetric } from '../../../src/index.ts'

/** The metrics of one gateway, with those of the process and of Node beside them. */
export function nodeMetrics(): MetricsPort {
  const registry = new Registry()
  addProcessSeries(registry)
  return createMetrics(registry)
}

/** Metrics kept in a registry of prom-client. */
export function createMetrics(registry: Registry): MetricsPort {
  const registers = [registry]
  return {
    counter: ({ name, help, labelNames = [] }) =>
      new Counter({ name, help, labelNames: [...labelNames], registers }),
    histogram: ({ name, help, labelNames = [], buckets }) =>
      new Histogram({ name, help, labelNames: [...labelNames], buckets: [...buckets], registers }),
    // A registry uses nothing of a metric but its name, `get` and `reset`.
    read: (metric) => registry.registerMetric(toPromMetric(metric) as unknown as Metric),
    contentType: registry.contentType,
    exposition: () => registry.metrics(),
  }
}

function toPromMetric(metric: ReadMetric) {
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

let own: Registry | undefined

/**
 * Adds the series of the process and of Node: `process_…`, `nodejs_…`. What measures them is started
 * by the first call and shared by all gateways of the process, since it cannot be stopped again.
 */
export function addProcessSeries(registry: Registry): void {
  own ??= collectProcessSeries()
  for (const { name } of own.getMetricsAsArray()) {
    const metric = own.getSingleMetric(name)
    if (metric) registry.registerMetric(metric)
  }
}

function collectProcessSeries(): Registry {
  const register = new Registry()
  collectDefaultMetrics({ register })
  return register
}
