import type { Meters } from '../core/metrics.ts'
import { CostTotals } from './cost-totals.ts'
import { Counter } from './counter.ts'
import { Histogram } from './histogram.ts'
import { HttpDurations } from './http-durations.ts'
import { table } from './table.ts'

/** The series that the gateway writes. */
export type Series = ReturnType<typeof createSeries>

/** Creates the series. `metadataLabels`: metadata keys that become labels of the token counter. */
export function createSeries(meters: Meters, metadataLabels: readonly string[]) {
  const { tokens } = table
  return {
    tokens: new Counter<string>(meters, {
      ...tokens,
      labelNames: [...tokens.labelNames, ...metadataLabels],
    }),
    duration: new Histogram(meters, table.duration),
    timeToFirstToken: new Histogram(meters, table.timeToFirstToken),
    httpDurations: new HttpDurations(meters),
    attempts: new Counter(meters, table.attempts),
    media: new Counter(meters, table.media),
    searchUnits: new Counter(meters, table.searchUnits),
    decisionRefusals: new Counter(meters, table.decisionRefusals),
    cost: new CostTotals(meters),
    unpriced: new Counter(meters, table.unpriced),
    reportedCostMissing: new Counter(meters, table.reportedCostMissing),
    costAboveReserved: new Counter(meters, table.costAboveReserved),
    unfinishedStreams: new Counter(meters, table.unfinishedStreams),
    earlyStreams: new Counter(meters, table.earlyStreams),
    switched: new Counter(meters, table.switched),
    affinity: new Counter(meters, table.affinity),
    modelLists: new Counter(meters, table.modelLists),
    cacheRequests: new Counter(meters, table.cacheRequests),
    cacheEvictions: new Counter(meters, table.cacheEvictions),
    metadataRejected: new Counter(meters, table.metadataRejected),
    usageDropped: new Counter(meters, table.usageDropped),
    usageUnjournaled: new Counter(meters, table.usageUnjournaled),
    reloads: new Counter(meters, table.reloads),
    reloadFailures: new Counter(meters, table.reloadFailures),
  }
}
