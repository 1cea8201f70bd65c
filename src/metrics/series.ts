import type { Meters } from '../core/metrics.ts'
import { CostTotals } from './cost-totals.ts'
import { HttpDurations } from './http-durations.ts'
import { table } from './table.ts'

/** The series that the gateway writes. */
export type Series = ReturnType<typeof createSeries>

/** Creates the series. `metadataLabels`: metadata keys that become labels of the token counter. */
export function createSeries(meters: Meters, metadataLabels: readonly string[]) {
  const { tokens } = table
  return {
    tokens: meters.counter({ ...tokens, labelNames: [...tokens.labelNames, ...metadataLabels] }),
    duration: meters.histogram(table.duration),
    timeToFirstToken: meters.histogram(table.timeToFirstToken),
    httpDurations: new HttpDurations(meters),
    attempts: meters.counter(table.attempts),
    media: meters.counter(table.media),
    searchUnits: meters.counter(table.searchUnits),
    cost: new CostTotals(meters),
    unpriced: meters.counter(table.unpriced),
    unfinishedStreams: meters.counter(table.unfinishedStreams),
    cacheRequests: meters.counter(table.cacheRequests),
    cacheEvictions: meters.counter(table.cacheEvictions),
    metadataRejected: meters.counter(table.metadataRejected),
    usageDropped: meters.counter(table.usageDropped),
    usageUnjournaled: meters.counter(table.usageUnjournaled),
    reloads: meters.counter(table.reloads),
    reloadFailures: meters.counter(table.reloadFailures),
  }
}
