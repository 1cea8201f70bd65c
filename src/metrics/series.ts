import type { Meters } from '../core/metrics.ts'
import { CostTotals } from './cost-totals.ts'
import { Counter } from './counter.ts'
import { Histogram } from './histogram.ts'
import { HttpDurations } from './http-durations.ts'
import { seriesTable } from './table.ts'

/** The series that the gateway writes. */
export type Series = ReturnType<typeof createSeries>

/** Creates the series. `metadataLabels`: metadata keys that become labels of the token counter. */
export function createSeries(meters: Meters, metadataLabels: readonly string[]) {
  const { tokens } = seriesTable
  return {
    tokens: new Counter<string>(meters, {
      ...tokens,
      labelNames: [...tokens.labelNames, ...metadataLabels],
    }),
    duration: new Histogram(meters, seriesTable.duration),
    timeToFirstToken: new Histogram(meters, seriesTable.timeToFirstToken),
    httpDurations: new HttpDurations(meters),
    attempts: new Counter(meters, seriesTable.attempts),
    media: new Counter(meters, seriesTable.media),
    searchUnits: new Counter(meters, seriesTable.searchUnits),
    decisionRefusals: new Counter(meters, seriesTable.decisionRefusals),
    cost: new CostTotals(meters),
    unpriced: new Counter(meters, seriesTable.unpriced),
    reportedCostMissing: new Counter(meters, seriesTable.reportedCostMissing),
    costAboveReserved: new Counter(meters, seriesTable.costAboveReserved),
    unfinishedStreams: new Counter(meters, seriesTable.unfinishedStreams),
    earlyStreams: new Counter(meters, seriesTable.earlyStreams),
    switched: new Counter(meters, seriesTable.switched),
    affinity: new Counter(meters, seriesTable.affinity),
    modelLists: new Counter(meters, seriesTable.modelLists),
    cacheRequests: new Counter(meters, seriesTable.cacheRequests),
    cacheEvictions: new Counter(meters, seriesTable.cacheEvictions),
    metadataRejected: new Counter(meters, seriesTable.metadataRejected),
    usageDropped: new Counter(meters, seriesTable.usageDropped),
    usageUnjournaled: new Counter(meters, seriesTable.usageUnjournaled),
    reloads: new Counter(meters, seriesTable.reloads),
    reloadFailures: new Counter(meters, seriesTable.reloadFailures),
  }
}
