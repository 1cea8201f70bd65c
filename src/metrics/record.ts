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
    const { capability, timeToFirstToken, usage, media, searchUnits, metadata } = settlement
    series.duration.observe(
      { capability, model, provider, status: settlement.status },
      settlement.latency / 1000,
    )
    if (timeToFirstToken !== undefined) {
      series.timeToFirstToken.observe({ model, provider }, timeToFirstToken / 1000)
    }
    if (!usage) return
    if (media && media.count > 0) series.media.inc({ capability, model, provider }, media.count)
    if (searchUnits !== undefined) series.searchUnits.inc({ model, provider }, searchUnits)
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
  return (metadata: Metadata): Record<string, string> | undefined => {
    if (metadataLabels.length === 0) return undefined
    const values = metadataLabels.map((label) => labelValue(metadata, label))
    const key = values.join('\u0000')
    const isOver = !seen.has(key) && seen.size >= maxSeries
    if (!isOver) seen.add(key)
    return Object.fromEntries(
      metadataLabels.map((label, index) => {
        const value = values[index] ?? ''
        return [label, isOver && value !== '' ? 'other' : value]
      }),
    )
  }
}

/** A label value of characters that any scraper takes; an absent key reads empty. */
function labelValue(metadata: Metadata, label: string): string {
  // A label may be called `constructor`, which every object has.
  if (!Object.hasOwn(metadata, label)) return ''
  // Control characters and lone surrogates.
  return String(metadata[label]).replace(/[\p{Cc}\p{Cs}]/gu, '')
}
