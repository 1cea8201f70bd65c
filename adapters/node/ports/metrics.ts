import { collectDefaultMetrics, type Metric, Registry } from 'prom-client'
import type { MetricsPort, MetricValues, ReadMetric, Sample } from '../../../src/index.ts'
import { nodeRuntime } from './runtime.ts'

/** Creates the metrics of one gateway, including those of the process and of Node. */
export function nodeMetrics(): MetricsPort {
  const registry = new Registry()
  addProcessSeries(registry)
  return { ...createMetrics(registry), runtime: nodeRuntime() }
}

/** Creates a metrics port on a registry of prom-client. */
export function createMetrics(registry: Registry): MetricsPort {
  return {
    // A registry uses only the name, `get` and `reset` of a metric.
    read: (metric) => registry.registerMetric(toPromMetric(metric) as unknown as Metric),
    contentType: registry.contentType,
    collect: () => collect(registry),
    exposition: async (metrics) =>
      spellNaN(await (metrics ? createRegistry(metrics) : registry).metrics()),
  }
}

/** prom-client writes `Nan`, which not every reader of the format takes for `NaN`. */
function spellNaN(exposition: string): string {
  return exposition.replace(/^([^#\n].*) Nan$/gm, '$1 NaN')
}

async function collect(registry: Registry): Promise<readonly MetricValues[]> {
  const metrics = (await registry.getMetricsAsJSON()) as unknown as readonly PromMetric[]
  return metrics.map(({ name, help, type, values }) => ({
    name,
    help,
    type,
    samples: values.map(({ metricName, labels, value }) => ({ name: metricName, labels, value })),
  }))
}

/** A metric as prom-client returns it. Its declarations lack the values of histograms. */
interface PromMetric extends Pick<MetricValues, 'name' | 'help' | 'type'> {
  readonly values: readonly (Omit<Sample, 'name'> & { readonly metricName?: string })[]
}

function createRegistry(metrics: readonly MetricValues[]): Registry {
  const registry = new Registry()
  for (const { samples, ...metric } of metrics) {
    const read = toPromMetric({ ...metric, samples: () => samples })
    registry.registerMetric(read as unknown as Metric)
  }
  return registry
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
 * Adds the series of the process and of Node: `process_…`, `nodejs_…`. The first call starts the
 * measurement, which all gateways of the process share because prom-client cannot stop it.
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
