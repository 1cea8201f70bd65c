import type { Meters } from '../core/metrics.ts'
import { HttpDurations } from './http-durations.ts'

/** Every series of the gateway. */
export type Series = ReturnType<typeof createSeries>

const requestSeconds = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
]

/** Creates the series. `metadataLabels`: metadata keys that become labels of the token counter. */
export function createSeries(meters: Meters, metadataLabels: readonly string[]) {
  const tokens = meters.counter({
    name: 'gateway_tokens_total',
    help: 'Tokens of finished requests, as reported by the upstream or estimated.',
    labelNames: ['capability', 'model', 'provider', 'direction', 'estimated', ...metadataLabels],
  })
  const duration = meters.histogram({
    name: 'gateway_request_duration_seconds',
    help: 'Time from the arrival of a request to its end, for a stream to its last frame.',
    labelNames: ['capability', 'api', 'model', 'provider', 'status'],
    buckets: requestSeconds,
  })
  const timeToFirstToken = meters.histogram({
    name: 'gateway_time_to_first_token_seconds',
    help: 'Time from the arrival of a streamed request to its first content.',
    labelNames: ['model', 'provider'],
    buckets: requestSeconds,
  })
  const httpDurations = new HttpDurations(meters)
  const attempts = meters.counter({
    name: 'gateway_upstream_attempts_total',
    help: 'Upstream calls by outcome.',
    labelNames: ['provider', 'model', 'outcome'],
  })
  const media = meters.counter({
    name: 'gateway_media_total',
    help: 'Images in served embeddings requests.',
    labelNames: ['capability', 'model', 'provider'],
  })
  const searchUnits = meters.counter({
    name: 'gateway_rerank_search_units_total',
    help: 'Search units of served rerank requests, as reported by the upstream or estimated.',
    labelNames: ['model', 'provider'],
  })
  const unfinishedStreams = meters.counter({
    name: 'gateway_streams_unfinished_total',
    help: 'Streams that ended with [DONE] although no choice had a finish reason.',
    labelNames: ['model', 'provider'],
  })
  const metadataRejected = meters.counter({
    name: 'gateway_metadata_rejected_total',
    help: 'Metadata headers ignored because they broke a rule.',
  })
  const usageDropped = meters.counter({
    name: 'gateway_usage_log_dropped_total',
    help: 'Rows of the usage log dropped because its queue was full.',
  })
  const cacheRequests = meters.counter({
    name: 'gateway_cache_requests_total',
    help: 'Requests while the cache is on, by result: hit, miss or bypass.',
    labelNames: ['result'],
  })
  const cacheEvictions = meters.counter({
    name: 'gateway_cache_evictions_total',
    help: 'Answers removed from the cache to make room for others.',
  })
  const reloads = meters.counter({
    name: 'gateway_config_reloads_total',
    help: 'Successful configuration reloads.',
  })
  const reloadFailures = meters.counter({
    name: 'gateway_config_reload_failures_total',
    help: 'Configuration reloads that were refused or failed; the previous configuration keeps serving.',
  })
  return {
    tokens,
    duration,
    timeToFirstToken,
    httpDurations,
    attempts,
    media,
    searchUnits,
    unfinishedStreams,
    cacheRequests,
    cacheEvictions,
    metadataRejected,
    usageDropped,
    reloads,
    reloadFailures,
  }
}
