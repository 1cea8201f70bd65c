export { ConfigError, StartError } from './boot-error.ts'
export type {
  Body,
  BodySource,
  ByteSource,
  CancelSignal,
  Clock,
  Egress,
  Encoding,
  Environment,
  Fingerprint,
  ImageFetchPort,
  Log,
  LogLevel,
  Lookup,
  MakeResponse,
  PinnedRequest,
  ReadFile,
  ResponseParts,
  Timer,
  Tokenizer,
  UpstreamPort,
  UpstreamRequest,
  UpstreamResponse,
} from './core/ports.ts'
export { version } from './core/version.ts'
export type { RequestContext } from './fetch.ts'
export {
  type AddSeries,
  type ConfigVerdict,
  checkConfig,
  createGateway,
  type Gateway,
  type GatewayOptions,
  type HostSettings,
  type LogFormat,
  type Unsaved,
} from './gateway.ts'
export type { AuthOverview, Overview, ProviderOverview } from './overview.ts'
export type { OpenStore, Store, StoreSettings } from './store/index.ts'
export { webResponse } from './web-ports.ts'
