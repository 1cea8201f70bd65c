export { type CheckPorts, type ConfigVerdict, checkConfig } from './check-config.ts'
export type { Capability } from './core/capability.ts'
export {
  type AccessKey,
  type AccessToken,
  type Cloud,
  type CloudCredential,
  CloudCredentialError,
  type CloudCredentialPort,
  type CloudCredentialRequest,
} from './core/cloud-credential.ts'
export type { ConfigFile, StagedFile } from './core/config-file.ts'
export type { Fetch, FetchOptions } from './core/fetch.ts'
export type { Bytes, Millis, UnixSeconds } from './core/ids.ts'
export type {
  Labels,
  Meters,
  MetricsPort,
  MetricValues,
  ReadMetric,
  RuntimeReadings,
  Sample,
} from './core/metrics.ts'
export type {
  AuthOverview,
  CacheOverview,
  Overview,
  ProfileOverview,
  ProviderOverview,
  SharedOverview,
} from './core/overview.ts'
export type { PlatformRequest, PlatformResponse, PlatformUrl } from './core/platform.ts'
export type {
  AfterTurn,
  AsciiText,
  Body,
  BufferedBody,
  ByteSource,
  CancelSignal,
  Clock,
  Digest,
  Egress,
  Environment,
  Fingerprint,
  HeaderList,
  ImageFetchPort,
  IsUtf8,
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
  UnreadBytes,
  UpstreamPort,
  UpstreamRequest,
  UpstreamResponse,
} from './core/ports.ts'
export type {
  CataloguePrices,
  CatalogueQuery,
  OpenPrices,
  PriceCatalogue,
} from './core/price-catalogue.ts'
export {
  type BatchedCall,
  type OpenSharedState,
  type SharedState,
  SharedStateFault,
  type SharedStateName,
  type SharedStateSettings,
} from './core/shared-state.ts'
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
export type {
  OpenTraces,
  ServerSpanStart,
  Span,
  SpanAttributes,
  SpanEnd,
  SpanStart,
  TracePort,
  TraceSettings,
} from './core/traces.ts'
export { version } from './core/version.ts'
export type { Topic, Workers } from './core/workers.ts'
export { createGateway } from './gateway.ts'
export type {
  ExplainedText,
  Gateway,
  GatewayOptions,
  HostBufferAccount,
  HostBuffers,
  HostSettings,
  Unsaved,
} from './options.ts'
export type { OpenStore, Store, StoreClaim, StoreReport, StoreSettings } from './store/index.ts'
export { webResponse, webStreams } from './web/index.ts'
