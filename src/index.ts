export type {
  ByteSource,
  CancelSignal,
  Clock,
  Environment,
  FetchApi,
  ImageFetchPort,
  Log,
  LogLevel,
  PinnedRequest,
  ReadFile,
  Timer,
  UpstreamPort,
  UpstreamRequest,
  UpstreamResponse,
} from './core/ports.ts'
export { version } from './core/version.ts'
export {
  ConfigError,
  type ConfigSummary,
  type ConfigVerdict,
  checkConfig,
  createGateway,
  type Gateway,
  type GatewayOptions,
  type HostSettings,
  type LogFormat,
  type RequestContext,
} from './gateway.ts'
