import type { Registry } from 'prom-client'
import { type Config, loadConfig, renderProblem } from './config/index.ts'
import { GatewayError, internal } from './core/errors.ts'
import { errorOf, UpstreamFault } from './core/failure.ts'
import { clientRequestId, type RequestId } from './core/ids.ts'
import { outline } from './core/outline.ts'
import type {
  CancelSignal,
  Clock,
  Environment,
  FetchApi,
  ImageFetchPort,
  Log,
  ReadFile,
  Tokenizer,
  UpstreamPort,
} from './core/ports.ts'
import { DataPlane } from './data-plane/index.ts'
import { errorReply, respond, withoutBody } from './edge.ts'
import { Prober } from './health/index.ts'
import { createSeries, metricsRecorder } from './metrics/index.ts'
import { kinds } from './providers/index.ts'
import { logRecorder } from './request-log.ts'
import { Breakers } from './resilience/index.ts'
import { createRouter } from './router.ts'
import { routesOf } from './routes.ts'
import { buildSnapshot } from './snapshot/index.ts'
import { silentLog, webClock, webFetchApi, webUpstream } from './web-ports.ts'

export interface GatewayOptions {
  /** The text of the configuration file. */
  readonly config: string
  /** Overrides and credentials. Nothing is read from the process by itself. */
  readonly env?: Environment | undefined
  readonly clock?: Clock | undefined
  /** Makes the log once the configured format is known; silent by default. */
  readonly log?: ((format: LogFormat) => Log) | undefined
  readonly upstream?: UpstreamPort | undefined
  readonly fetchApi?: FetchApi | undefined
  /** Fetches remote images for embeddings, where the configuration allows it. */
  readonly imageFetch?: ImageFetchPort | undefined
  /** Counts tokens exactly, for `tokenizer.mode` `accurate`; without it they are estimated by bytes. */
  readonly tokenizer?: Tokenizer | undefined
  /** Reads the files that credentials name; without it they must be given as contents. */
  readonly readFile?: ReadFile | undefined
  /** Chance, from 0 up to 1, for the jitter of retries. */
  readonly random?: (() => number) | undefined
}

export type LogFormat = 'pretty' | 'json'

/** What a host knows of one request beyond the request itself. */
export interface RequestContext {
  /** Aborts when the client has left. Without it, the request's own signal counts. */
  readonly signal?: CancelSignal | undefined
}

/** What a host must know of the configuration. */
export interface HostSettings {
  readonly host: string
  readonly port: number
  readonly bodyLimit: number
}

export interface Gateway {
  /** Answers a request. Never rejects, and the body of its answer never errors. */
  readonly fetch: (request: Request, context?: RequestContext) => Promise<Response>
  readonly settings: HostSettings
  readonly log: Log
  readonly registry: Registry
  /** Requests of the data plane that have not ended, streams included. */
  readonly inFlight: number
  /** Ends what is still running: streams with their terminal frame, all else with an error. */
  drain(): void
  /** Frees everything. The gateway must not be used afterwards. */
  close(): Promise<void>
}

/** A configuration that cannot serve, with one line for each of its problems. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`invalid configuration:\n${problems.join('\n')}`)
    this.problems = problems
  }
}

/** Builds the whole gateway. Rejects with `ConfigError` when the configuration cannot serve. */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const {
    env = {},
    clock = webClock,
    upstream = webUpstream,
    fetchApi = webFetchApi,
    random = Math.random,
  } = options
  const { config, warnings } = await readConfig(options.config, env)
  const log = options.log?.(config.log_format) ?? silentLog
  for (const warning of warnings) log.write('warn', warning)
  if (config.tokenizer.mode === 'accurate' && !options.tokenizer) {
    log.write(
      'warn',
      'tokenizer.mode is accurate, but this host cannot count: tokens are estimated',
    )
  }

  const current = buildSnapshot(config, { env, clock, upstream, readFile: options.readFile })
  const snapshot = () => current
  const breakers = new Breakers(clock)
  const prober = new Prober({
    clock,
    providers: () => snapshot().providers,
    policy: () => snapshot().healthCheck,
  })
  const { metadata_labels: metadataLabels, max_series: maxSeries } = config.telemetry
  const series = createSeries({
    metadataLabels,
    circuits: () => breakers.states(),
    inFlight: () => plane.inFlight,
    health: () =>
      snapshot().providers.map((provider) => [provider.name, prober.resultOf(provider)]),
  })
  const recorders = [metricsRecorder(series, { metadataLabels, maxSeries }), logRecorder(log)]
  const plane = new DataPlane({
    snapshot,
    clock,
    log,
    fetchApi,
    imageFetch: options.imageFetch,
    tokenizer: options.tokenizer,
    breakers,
    random,
    record: (settlement) => recorders.forEach((record) => record(settlement)),
    attempted: ({ id: model, provider }, outcome) =>
      series.attempts.inc({ provider: provider.name, model, outcome }),
    metadataRejected: () => series.metadataRejected.inc(),
  })
  const route = createRouter(routesOf({ plane, snapshot, prober, registry: series.registry }))

  if (snapshot().healthCheck.enabled) prober.start()
  return {
    async fetch(request, context) {
      const id = clientRequestId(request.headers.get('x-request-id')) ?? newRequestId()
      const signal = context?.signal ?? request.signal
      const reply = await route(request, { id, signal }).catch((error: unknown) =>
        errorReply(asGatewayError(error, id, log), id),
      )
      return respond(request.method === 'HEAD' ? withoutBody(reply) : reply, id, fetchApi)
    },
    settings: {
      host: config.server.host,
      port: config.server.port,
      bodyLimit: config.server.body_limit,
    },
    log,
    registry: series.registry,
    get inFlight() {
      return plane.inFlight
    },
    drain: () => plane.drain(),
    async close() {
      prober.stop()
      plane.drain()
      await plane.close()
    },
  }
}

export type ConfigVerdict =
  | { readonly ok: true; readonly summary: ConfigSummary }
  | { readonly ok: false; readonly problems: readonly string[] }

export interface ConfigSummary {
  readonly providers: number
  readonly models: number
  readonly warnings: readonly string[]
}

/** Judges a configuration as a boot would, without serving it: no listener, no network. */
export async function checkConfig(text: string, env: Environment): Promise<ConfigVerdict> {
  try {
    const { config, warnings } = await readConfig(text, env)
    const snapshot = buildSnapshot(config, { env, clock: webClock, upstream: webUpstream })
    const models = snapshot.models().length
    return { ok: true, summary: { providers: snapshot.providers.length, models, warnings } }
  } catch (error) {
    if (error instanceof ConfigError) return { ok: false, problems: error.problems }
    throw error
  }
}

async function readConfig(
  text: string,
  env: Environment,
): Promise<{ config: Config; warnings: readonly string[] }> {
  const result = await loadConfig({ text, env, kinds })
  if (!result.ok) throw new ConfigError(result.problems.map(renderProblem))
  if (result.config.auth.enabled) {
    // Serving it all the same would be an open proxy.
    throw new ConfigError(['auth.enabled: this version cannot enforce keys and budgets yet'])
  }
  return result
}

function newRequestId(): RequestId {
  // A UUID is made of safe characters only.
  return crypto.randomUUID() as RequestId
}

/** What is not meant for clients becomes LM-5001; its kind, and no more, goes to the log. */
function asGatewayError(error: unknown, id: RequestId, log: Log): GatewayError {
  if (error instanceof GatewayError) return error
  if (error instanceof UpstreamFault) return errorOf(error.failure, '')
  log.write('error', 'internal error', { request_id: id, ...outline(error) })
  return internal()
}
