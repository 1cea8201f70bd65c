export type { FetchOptions } from './core/fetch.ts'
export type {
  Counter,
  Histogram,
  HistogramSpec,
  Labels,
  Meters,
  MetricSpec,
  MetricsPort,
  ReadMetric,
  Sample,
} from './core/metrics.ts'
export type { AuthOverview, Overview, ProviderOverview } from './core/overview.ts'
export type {
  Body,
  ByteSource,
  CancelSignal,
  Clock,
  Egress,
  Environment,
  Fingerprint,
  ImageFetchPort,
  Log,
  LogFormat,
  LogLevel,
  Lookup,
  MakeResponse,
  PinnedRequest,
  ReadFile,
  ResponseParts,
  Timer,
  TokenEncoding,
  Tokenizer,
  UpstreamPort,
  UpstreamRequest,
  UpstreamResponse,
} from './core/ports.ts'
export { ConfigError, StartError } from './core/start-error.ts'
export type {
  Readable,
  Reader,
  Source,
  SourceController,
  Stage,
  StageController,
  Strategy,
  StreamClasses,
  Transformer,
  Writable,
} from './core/streams.ts'
export { version } from './core/version.ts'
export {
  type ConfigVerdict,
  checkConfig,
  createGateway,
  type Gateway,
  type GatewayOptions,
  type HostSettings,
  type Unsaved,
} from './gateway.ts'
export type { OpenStore, Store, StoreSettings } from './store/index.ts'
export { webResponse, webStreams } from './web/index.ts'
