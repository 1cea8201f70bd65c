import type { GatewayEvents } from '../core/gateway-events.ts'
import type { Series } from './series.ts'

/** Counts what a gateway reports besides finished requests. */
export function metricsEvents(series: Series): GatewayEvents {
  return {
    configApplied: () => series.reloads.inc({}),
    reloadFailed: () => series.reloadFailures.inc({}),
    usageDropped: (rows) => series.usageDropped.inc({}, rows),
    usageUnjournaled: (rows) => series.usageUnjournaled.inc({}, rows),
    metadataRejected: () => series.metadataRejected.inc({}),
    upstreamAttempted: ({ id: model, provider }, outcome) =>
      series.attempts.inc({ provider: provider.name, model, outcome }),
    streamUnfinished: ({ id: model, provider }) =>
      series.unfinishedStreams.inc({ model, provider: provider.name }),
    cacheUsed: (result) => series.cacheRequests.inc({ result }),
    affinityUsed: (result) => series.affinity.inc({ result }),
    cacheEvicted: () => series.cacheEvictions.inc({}),
  }
}
