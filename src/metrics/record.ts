import type { Metadata, Recorder } from '../core/settlement.ts'
import type { Series } from './series.ts'

export interface MetricsOptions {
  readonly metadataLabels: readonly string[]
  /** How many different sets of metadata values get series of their own. */
  readonly maxSeries: number
}

/** Counts finished requests into the series. */
export function metricsRecorder(series: Series, options: MetricsOptions): Recorder {
  const labelsOf = metadataLabeller(options)
  return (settlement) => {
    const served = settlement.served ?? settlement.model
    const model = served?.id ?? ''
    const provider = served?.provider.name ?? ''
    const { capability, timeToFirstToken, usage, metadata } = settlement
    series.duration.observe(
      { capability, model, provider, status: settlement.status },
      settlement.latency / 1000,
    )
    if (timeToFirstToken !== undefined) {
      series.timeToFirstToken.observe({ model, provider }, timeToFirstToken / 1000)
    }
    if (!usage) return
    const extra = labelsOf(metadata)
    const estimated = String(usage.estimated)
    const count = (direction: 'input' | 'output', tokens: number) => {
      const labels = { capability, model, provider, direction, estimated }
      series.tokens.inc(extra ? { ...labels, ...extra } : labels, tokens)
    }
    count('input', usage.promptTokens)
    count('output', usage.completionTokens)
  }
}

/**
 * Metadata is the client's own text, so the number of series it can make is bounded: past it, new
 * combinations of values read `other`.
 */
function metadataLabeller({ metadataLabels, maxSeries }: MetricsOptions) {
  const seen = new Set<string>()
  const other = Object.fromEntries(metadataLabels.map((label) => [label, 'other']))
  return (metadata: Metadata): Record<string, string> | undefined => {
    if (metadataLabels.length === 0) return undefined
    const values = metadataLabels.map((label) => printable(metadata[label]))
    const key = values.join('\u0000')
    if (!seen.has(key)) {
      if (seen.size >= maxSeries) return other
      seen.add(key)
    }
    return Object.fromEntries(metadataLabels.map((label, index) => [label, values[index] ?? '']))
  }
}

/** A label value without control characters; an absent key reads empty. */
function printable(value: Metadata[string] | undefined): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what is taken out
  return value === undefined ? '' : String(value).replace(/[\u0000-\u001f\u007f-\u009f]/g, '')
}
