import type { Meters, Sample } from '../core/metrics.ts'
import { HttpDurations } from './http-durations.ts'

/** Every series of the gateway. */
export type Series = ReturnType<typeof createSeries>

export interface SeriesOptions {
  readonly meters: Meters
  /** Metadata keys that become labels of the token counter; legal label names. */
  readonly metadataLabels: readonly string[]
  /** The circuits in use, read at each scrape. */
  readonly circuits: () => Iterable<{ provider: string; model: string; state: CircuitState }>
  readonly inFlight: () => number
  readonly bufferedBytes: () => number
  /** What is known of each provider, read at each scrape; undefined when it is not probed. */
  readonly health: () => Iterable<
    readonly [provider: string, result: { status: 'up' | 'down' } | undefined]
  >
}

type CircuitState = 'closed' | 'open' | 'half-open'

const circuitValues = { closed: 0, open: 1, 'half-open': 2 } as const

const requestSeconds = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
]

export function createSeries({
  meters,
  metadataLabels,
  circuits,
  inFlight,
  bufferedBytes,
  health,
}: SeriesOptions) {
  const tokens = meters.counter({
    name: 'gateway_tokens_total',
    help: 'Tokens of finished requests, as reported by the upstream or estimated.',
    labelNames: ['capability', 'model', 'provider', 'direction', 'estimated', ...metadataLabels],
  })
  const duration = meters.histogram({
    name: 'gateway_request_duration_seconds',
    help: 'Time from a request’s arrival to its end; a stream ends with its last frame.',
    labelNames: ['capability', 'model', 'provider', 'status'],
    buckets: requestSeconds,
  })
  const timeToFirstToken = meters.histogram({
    name: 'gateway_time_to_first_token_seconds',
    help: 'Time from a streamed request’s arrival to its first content.',
    labelNames: ['model', 'provider'],
    buckets: requestSeconds,
  })
  const httpDurations = new HttpDurations(meters)
  const attempts = meters.counter({
    name: 'gateway_upstream_attempts_total',
    help: 'Upstream calls by what came of them.',
    labelNames: ['provider', 'model', 'outcome'],
  })
  const media = meters.counter({
    name: 'gateway_media_total',
    help: 'Images in embeddings requests that were served.',
    labelNames: ['capability', 'model', 'provider'],
  })
  const searchUnits = meters.counter({
    name: 'gateway_rerank_search_units_total',
    help: 'Search units of rerank requests that were served, as reported by the upstream or estimated.',
    labelNames: ['model', 'provider'],
  })
  const unfinishedStreams = meters.counter({
    name: 'gateway_streams_unfinished_total',
    help: 'Streams that ended with [DONE] although no choice had given a finish reason.',
    labelNames: ['model', 'provider'],
  })
  const metadataRejected = meters.counter({
    name: 'gateway_metadata_rejected_total',
    help: 'Metadata headers that were dropped because they broke a rule.',
  })
  const usageDropped = meters.counter({
    name: 'gateway_usage_log_dropped_total',
    help: 'Rows of the usage log that were dropped because too many waited to be written.',
  })
  const reloads = meters.counter({
    name: 'gateway_config_reloads_total',
    help: 'Configurations that took the place of the one before, since the start.',
  })
  const reloadFailures = meters.counter({
    name: 'gateway_config_reload_failures_total',
    help: 'Reloads that were refused or failed, and left the configuration as it was.',
  })
  meters.read({
    name: 'gateway_requests_in_flight',
    help: 'Requests of the data plane that have not ended, streams included.',
    type: 'gauge',
    samples: () => [{ labels: {}, value: inFlight() }],
  })
  meters.read({
    name: 'gateway_buffered_bytes',
    help: 'Bytes held for clients and upstreams: request bodies, and answers that wait to be read.',
    type: 'gauge',
    samples: () => [{ labels: {}, value: bufferedBytes() }],
  })
  meters.read({
    name: 'gateway_circuit_state',
    help: 'The circuit of a provider and model: 0 closed, 1 open, 2 half-open.',
    type: 'gauge',
    samples: () =>
      Array.from(circuits(), ({ provider, model, state }) => ({
        labels: { provider, model },
        value: circuitValues[state],
      })),
  })
  meters.read({
    name: 'gateway_provider_up',
    help: 'The last health probe of a provider: 1 up, 0 down. Providers that are not probed are absent.',
    type: 'gauge',
    samples: () =>
      Array.from(health()).flatMap(([provider, result]): Sample[] =>
        result ? [{ labels: { provider }, value: result.status === 'up' ? 1 : 0 }] : [],
      ),
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
    metadataRejected,
    usageDropped,
    reloads,
    reloadFailures,
  }
}
