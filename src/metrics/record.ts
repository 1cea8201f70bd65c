import type { NanoUsd } from '../core/ids.ts'
import type { Metadata } from '../core/metadata.ts'
import { nameInMetrics } from '../core/model-pattern.ts'
import type { Model } from '../core/provider.ts'
import type { RecordSink, RequestRecord } from '../core/request-record.ts'
import type { NamedRoute } from '../core/route.ts'
import type { Usage } from '../core/usage.ts'
import { toLabelValue } from './label-value.ts'
import type { Series } from './series.ts'

export interface MetricsOptions {
  readonly metadataLabels: readonly string[]
  /** Maximum number of series of a metric that carry metadata values of their own. */
  readonly maxSeries: number
}

/** Observes finished requests. */
export function metricsSink(series: Series, options: MetricsOptions): RecordSink {
  const withMetadata = createLabeller(options)
  const observeCall = (call: ObservedCall, { capability, metadata }: RequestRecord) => {
    const { link, usage, cost } = call
    const model = link ? nameInMetrics(link) : ''
    const provider = link?.provider?.name ?? ''
    if (cost > 0n) series.cost.add({ capability, model, provider }, cost)
    if (link?.hasPrice === false) series.unpriced.inc({ model })
    const estimated = String(usage.estimated)
    const count = (direction: 'input' | 'output', tokens: number) => {
      const labels = { capability, model, provider, direction, estimated }
      series.tokens.inc(withMetadata(labels, metadata), tokens)
    }
    count('input', usage.promptTokens)
    count('output', usage.completionTokens)
  }
  return (record) => {
    const served = record.served ?? record.model
    const model = served ? nameInMetrics(served) : ''
    const provider = served?.provider?.name ?? ''
    const { capability, api, timeToFirstToken, usage, media, searchUnits, refusals } = record
    series.duration.observe(
      { capability, api, model, provider, status: record.status },
      record.latency / 1000,
    )
    if (record.switched) {
      for (const { id, target } of record.switched) series.switched.inc({ route: id, target })
    }
    // A hit says nothing about the upstream, and no tokens were used for it.
    if (record.cacheHit) return
    if (timeToFirstToken !== undefined) {
      series.timeToFirstToken.observe({ model, provider }, timeToFirstToken / 1000)
    }
    if (!usage) return
    if (media && media.count > 0) series.media.inc({ capability, model, provider }, media.count)
    if (searchUnits !== undefined) series.searchUnits.inc({ model, provider }, searchUnits)
    if (refusals) series.decisionRefusals.inc({ model, provider }, refusals)
    const { price, reserved } = record
    // Only answers of these capabilities state what they cost.
    const mayState = capability === 'chat' || capability === 'decisions'
    const isMissing = mayState && price?.calculated !== undefined && !price.isReported
    if (isMissing) series.reportedCostMissing.inc({ model, provider })
    if (reserved !== undefined && record.cost > reserved) {
      series.costAboveReserved.inc({ model, provider })
    }
    const calls = record.charged ?? [{ link: served, usage, cost: record.cost }]
    for (const call of calls) observeCall(call, record)
  }
}

interface ObservedCall {
  readonly link: (NamedRoute & Partial<Pick<Model, 'hasPrice'>>) | undefined
  readonly usage: Usage
  readonly cost: NanoUsd
}

type Labels = Readonly<Record<string, string>>

/**
 * Adds metadata to the labels of one metric. Clients choose the values, so the number of series with
 * metadata is bounded over all labels; beyond it the values read `other`.
 */
function createLabeller({ metadataLabels, maxSeries }: MetricsOptions) {
  const seen = new Set<string>()
  const hasPlace = (labels: Labels, values: readonly string[]): boolean => {
    if (values.every((value) => value === '')) return true
    const series = [...Object.values(labels), ...values].join('\u0000')
    if (seen.size < maxSeries) seen.add(series)
    return seen.has(series)
  }
  return (labels: Labels, metadata: Metadata): Labels => {
    if (metadataLabels.length === 0) return labels
    const values = metadataLabels.map((label) => labelValue(metadata, label))
    const shown = hasPlace(labels, values) ? values : values.map((value) => value && 'other')
    return {
      ...labels,
      ...Object.fromEntries(metadataLabels.map((label, at) => [label, shown[at] ?? ''])),
    }
  }
}

/** The value of a metadata key; an absent key reads empty. */
function labelValue(metadata: Metadata, label: string): string {
  // A label may be named `constructor`, a property of every object.
  if (!Object.hasOwn(metadata, label)) return ''
  return toLabelValue(String(metadata[label]))
}
