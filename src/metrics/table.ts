import type { MetricSpec } from './counter.ts'
import type { HistogramSpec } from './histogram.ts'

type SeriesSpec = CounterSeries | GaugeSeries | HistogramSeries
type CounterSeries = { readonly type: 'counter' } & MetricSpec
type GaugeSeries = { readonly type: 'gauge'; readonly acrossWorkers: AcrossWorkers } & MetricSpec
type HistogramSeries = { readonly type: 'histogram' } & HistogramSpec

/** How the values of several workers become one. Counters and histograms are always added. */
export type AcrossWorkers = 'sum' | 'max' | 'min' | 'open first'

const requestSeconds = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600,
]
const httpSeconds = [
  0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300,
]
const deliverySeconds = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 600]

const model = ['model', 'provider'] as const
const capability = ['capability', ...model] as const

/** Every series of the gateway. `docs/operations.md` explains each; a test compares the two. */
export const seriesTable = Object.freeze({
  build: {
    type: 'gauge',
    acrossWorkers: 'max',
    name: 'gateway_build_info',
    help: 'Always 1. The labels are the versions of the gateway and of Node.',
    labelNames: ['version', 'node'],
  },
  ready: {
    type: 'gauge',
    acrossWorkers: 'min',
    name: 'gateway_ready',
    help: '1 while the gateway is ready for requests, 0 from the beginning of its shutdown.',
  },
  workers: {
    type: 'gauge',
    acrossWorkers: 'sum',
    name: 'gateway_workers',
    help: 'Workers that take requests, of a gateway with several.',
  },
  workersEnded: {
    type: 'counter',
    name: 'gateway_workers_ended_total',
    help: 'Workers that ended although the gateway did not stop, and were replaced.',
  },
  inFlight: {
    type: 'gauge',
    acrossWorkers: 'sum',
    name: 'gateway_requests_in_flight',
    help: 'Data-plane requests that have not ended, streams included.',
  },
  eventLoopLag: {
    type: 'gauge',
    acrossWorkers: 'max',
    name: 'gateway_event_loop_lag_seconds',
    help: 'Longest time for which the event loop was blocked, in about the last two scrape intervals.',
  },
  bufferedBytes: {
    type: 'gauge',
    acrossWorkers: 'sum',
    name: 'gateway_buffered_bytes',
    help: 'Bytes held in memory for clients and upstreams: request bodies and unread responses.',
  },
  httpDuration: {
    type: 'histogram',
    name: 'gateway_http_request_duration_seconds',
    help: 'Time from the arrival of an HTTP request to its response, or to the start of a stream.',
    labelNames: ['route', 'method', 'status'],
    buckets: httpSeconds,
  },
  duration: {
    type: 'histogram',
    name: 'gateway_request_duration_seconds',
    help: 'Time from the arrival of a request to its end, for a stream to its last frame.',
    labelNames: ['capability', 'api', ...model, 'status'],
    buckets: requestSeconds,
  },
  timeToFirstToken: {
    type: 'histogram',
    name: 'gateway_time_to_first_token_seconds',
    help: 'Time from the arrival of a streamed request to its first content.',
    labelNames: model,
    buckets: requestSeconds,
  },
  attempts: {
    type: 'counter',
    name: 'gateway_upstream_attempts_total',
    help: 'Upstream calls by outcome.',
    labelNames: ['provider', 'model', 'outcome'],
  },
  unfinishedStreams: {
    type: 'counter',
    name: 'gateway_streams_unfinished_total',
    help: 'Streams that ended with [DONE] although no choice had a finish reason.',
    labelNames: model,
  },
  earlyStreams: {
    type: 'counter',
    name: 'gateway_streams_early_total',
    help: 'Streams whose client got headers and a ping before a provider had sent content.',
  },
  upstreamInFlight: {
    type: 'gauge',
    acrossWorkers: 'sum',
    name: 'gateway_upstream_requests_in_flight',
    help: 'Requests that a provider and model are serving, streams to their end.',
    labelNames: ['provider', 'model', 'stream'],
  },
  circuits: {
    type: 'gauge',
    acrossWorkers: 'open first',
    name: 'gateway_circuit_state',
    help: 'State of the circuit of a provider and model: 0 closed, 1 open, 2 half-open.',
    labelNames: ['provider', 'model'],
  },
  sharedStateUp: {
    type: 'gauge',
    acrossWorkers: 'min',
    name: 'gateway_shared_state_up',
    help: 'Whether the server of [shared] can be reached and written to: 1 yes, 0 no; absent without one.',
    labelNames: [],
  },
  parkedCredentials: {
    type: 'gauge',
    acrossWorkers: 'max',
    name: 'gateway_credentials_parked',
    help: 'Parked credentials of a provider that has several: for one model, or for all where it is empty.',
    labelNames: ['provider', 'model'],
  },
  providerUp: {
    type: 'gauge',
    acrossWorkers: 'min',
    name: 'gateway_provider_up',
    help: 'Last health check of a provider: 1 up, 0 down; providers that are not probed are absent.',
    labelNames: ['provider'],
  },
  tokens: {
    type: 'counter',
    name: 'gateway_tokens_total',
    help: 'Tokens of finished requests, as reported by the upstream or estimated.',
    labelNames: [...capability, 'direction', 'estimated'],
  },
  media: {
    type: 'counter',
    name: 'gateway_media_total',
    help: 'Images in served embeddings requests.',
    labelNames: capability,
  },
  searchUnits: {
    type: 'counter',
    name: 'gateway_rerank_search_units_total',
    help: 'Search units of served rerank requests, as reported by the upstream or estimated.',
    labelNames: model,
  },
  decisionRefusals: {
    type: 'counter',
    name: 'gateway_decision_refusals_total',
    help: 'Questions for decisions that the model refused to answer.',
    labelNames: model,
  },
  cost: {
    type: 'counter',
    name: 'gateway_cost_usd_total',
    help: 'Cost of finished requests by the prices of the models that served, in US dollars.',
    labelNames: capability,
  },
  unpriced: {
    type: 'counter',
    name: 'gateway_unpriced_requests_total',
    help: 'Served requests that cost nothing because their model has no price.',
    labelNames: ['model'],
  },
  reportedCostMissing: {
    type: 'counter',
    name: 'gateway_reported_cost_missing_total',
    help: 'Answers that should have stated their cost and did not, so that it was calculated.',
    labelNames: ['model', 'provider'],
  },
  costAboveReserved: {
    type: 'counter',
    name: 'gateway_cost_above_reserved_total',
    help: 'Requests that cost more than was reserved for them.',
    labelNames: ['model', 'provider'],
  },
  budgetSpent: {
    type: 'gauge',
    acrossWorkers: 'max',
    name: 'gateway_budget_spent_ratio',
    help: 'Spent part of the budget of a key or a group: 1 when all of it is spent.',
    labelNames: ['scope', 'name'],
  },
  budgetRemaining: {
    type: 'gauge',
    acrossWorkers: 'min',
    name: 'gateway_budget_remaining_usd',
    help: 'Unspent part of the budget of a key or a group, in US dollars; negative when overspent.',
    labelNames: ['scope', 'name'],
  },
  usageDropped: {
    type: 'counter',
    name: 'gateway_usage_log_dropped_total',
    help: 'Rows of the usage log dropped because its queue was full.',
  },
  usageUnjournaled: {
    type: 'counter',
    name: 'gateway_usage_unjournaled_total',
    help: 'Rows of the usage log that the journal of unsaved usage could not keep.',
  },
  switched: {
    type: 'counter',
    name: 'gateway_switched_total',
    help: 'Finished requests by the target that a switch has chosen for them.',
    labelNames: ['route', 'target'],
  },
  affinity: {
    type: 'counter',
    name: 'gateway_affinity_total',
    help: 'Served requests of sessions: hit at what had served the session last, new, or moved to something else.',
    labelNames: ['result'],
  },
  affinityPins: {
    type: 'gauge',
    acrossWorkers: 'max',
    name: 'gateway_affinity_pins',
    help: 'Sessions that are remembered with what served them.',
  },
  upstreamQueue: {
    type: 'gauge',
    acrossWorkers: 'sum',
    name: 'gateway_upstream_queue',
    help: 'Requests that wait for room at an upstream.',
    labelNames: ['provider', 'model'],
  },
  modelLists: {
    type: 'counter',
    name: 'gateway_model_lists_total',
    help: 'Readings of the lists of models of providers with discover, by result: success or failure.',
    labelNames: ['provider', 'result'],
  },
  listedModels: {
    type: 'gauge',
    acrossWorkers: 'max',
    name: 'gateway_listed_models',
    help: 'Models in the last list of a provider with discover; absent until there is one.',
    labelNames: ['provider'],
  },
  cacheRequests: {
    type: 'counter',
    name: 'gateway_cache_requests_total',
    help: 'Requests while the cache is on, by result: hit, miss or bypass.',
    labelNames: ['result'],
  },
  cacheBytes: {
    type: 'gauge',
    acrossWorkers: 'sum',
    name: 'gateway_cache_bytes',
    help: 'Memory that the cached answers take.',
  },
  cacheEntries: {
    type: 'gauge',
    acrossWorkers: 'sum',
    name: 'gateway_cache_entries',
    help: 'Answers in the cache.',
  },
  cacheEvictions: {
    type: 'counter',
    name: 'gateway_cache_evictions_total',
    help: 'Answers removed from the cache to make room for others.',
  },
  metadataRejected: {
    type: 'counter',
    name: 'gateway_metadata_rejected_total',
    help: 'Metadata headers ignored because they broke a rule.',
  },
  reloads: {
    type: 'counter',
    name: 'gateway_config_reloads_total',
    help: 'Successful configuration reloads.',
  },
  reloadFailures: {
    type: 'counter',
    name: 'gateway_config_reload_failures_total',
    help: 'Configuration reloads that were refused or failed; the previous configuration keeps serving.',
  },
  webhooksSent: {
    type: 'counter',
    name: 'gateway_webhook_sent_total',
    help: 'Webhook events delivered.',
  },
  webhooksDropped: {
    type: 'counter',
    name: 'gateway_webhook_dropped_total',
    help: 'Webhook events dropped because the queue was full or webhooks were turned off.',
  },
  webhooksDead: {
    type: 'counter',
    name: 'gateway_webhook_dead_total',
    help: 'Webhook events that failed on their last attempt.',
  },
  webhookDelivery: {
    type: 'histogram',
    name: 'gateway_webhook_delivery_seconds',
    help: 'Time from a webhook event to its delivery, queueing and all attempts included.',
    buckets: deliverySeconds,
  },
} as const satisfies Readonly<Record<string, SeriesSpec>>)
