import { collectDefaultMetrics, Registry } from 'prom-client'

let own: Registry | undefined

/**
 * Adds the series of the process and of Node: `process_…`, `nodejs_…`. What measures them is started
 * by the first call and shared by all gateways of the process, since it cannot be stopped again.
 */
export function addProcessSeries(registry: Registry): void {
  own ??= collected()
  for (const { name } of own.getMetricsAsArray()) {
    const metric = own.getSingleMetric(name)
    if (metric) registry.registerMetric(metric)
  }
}

function collected(): Registry {
  const register = new Registry()
  collectDefaultMetrics({ register })
  return register
}
