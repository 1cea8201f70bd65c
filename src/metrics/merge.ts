import type { Labels, MetricValues, Sample } from '../core/metrics.ts'
import { type AcrossWorkers, seriesTable } from './table.ts'

/** The metrics of one process of a gateway. */
export interface MetricPage {
  /** Tells apart the series of the process itself, such as its memory: the number of the worker. */
  readonly worker: string
  readonly metrics: readonly MetricValues[]
}

const rules = new Map<string, AcrossWorkers>(
  Object.values(seriesTable).map((series) => [
    series.name,
    series.type === 'gauge' ? series.acrossWorkers : 'sum',
  ]),
)

/** Returns the metrics of the whole gateway. Series that are not the gateway's own get a label `worker`. */
export function mergeMetrics(pages: readonly MetricPage[]): readonly MetricValues[] {
  const merged = new Map<string, Merged>()
  for (const { worker, metrics } of pages) {
    for (const metric of metrics) {
      const into = merged.get(metric.name) ?? { ...metric, groups: new Map() }
      merged.set(metric.name, into)
      const isOwn = rules.has(metric.name)
      for (const sample of metric.samples) {
        addSample(into.groups, isOwn ? sample : withWorker(sample, worker))
      }
    }
  }
  return Array.from(merged.values(), ({ groups, ...metric }) => {
    const combine = combiners[rules.get(metric.name) ?? 'sum']
    const samples = Array.from(groups.values(), ({ sample, values }) => ({
      ...sample,
      value: values.reduce((a, b) => combine(a, b)),
    }))
    return { ...metric, samples }
  })
}

/** Returns what remains of processes that have ended: their counters, which must not fall. */
export function keepCounters(pages: readonly MetricPage[]): readonly MetricValues[] {
  return mergeMetrics(pages).filter(({ name, type }) => rules.has(name) && type !== 'gauge')
}

interface Merged extends Omit<MetricValues, 'samples'> {
  /** The values of equal labels, one of each process. */
  readonly groups: Map<string, { readonly sample: Sample; readonly values: number[] }>
}

function addSample(groups: Merged['groups'], sample: Sample): void {
  const key = `${sample.name ?? ''}\n${writeLabels(sample.labels)}`
  const group = groups.get(key)
  if (group) group.values.push(sample.value)
  else groups.set(key, { sample, values: [sample.value] })
}

function writeLabels(labels: Labels): string {
  return JSON.stringify(Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function withWorker(sample: Sample, worker: string): Sample {
  return { ...sample, labels: { ...sample.labels, worker } }
}

const combiners: Readonly<Record<AcrossWorkers, (a: number, b: number) => number>> = {
  sum: (a, b) => a + b,
  max: Math.max,
  min: Math.min,
  // 1 is open and 2 half-open.
  'open first': (a, b) => (a === 1 || b === 1 ? 1 : Math.max(a, b)),
}
