import type { GatewayEvents } from '../core/gateway-events.ts'
import { nameInMetrics } from '../core/model-pattern.ts'
import type { Series } from './series.ts'

/** Counts what a gateway reports besides finished requests. */
export function metricsEvents(series: Series): GatewayEvents {
  return {
    configApplied: () => series.reloads.inc({}),
    reloadFailed: () => series.reloadFailures.inc({}),
    usageDropped: (rows) => series.usageDropped.inc({}, rows),
    usageUnjournaled: (rows) => series.usageUnjournaled.inc({}, rows),
    metadataRejected: () => series.metadataRejected.inc({}),
    upstreamAttempted: (link, outcome) =>
      series.attempts.inc({ provider: link.provider.name, model: nameInMetrics(link), outcome }),
    streamUnfinished: (link) =>
      series.unfinishedStreams.inc({ model: nameInMetrics(link), provider: link.provider.name }),
    streamBegunEarly: () => series.earlyStreams.inc({}),
    cacheUsed: (result) => series.cacheRequests.inc({ result }),
    affinityUsed: (result) => series.affinity.inc({ result }),
    modelsListed: (provider, result) => series.modelLists.inc({ provider, result }),
    cacheEvicted: () => series.cacheEvictions.inc({}),
  }
}
