import type { Registry } from 'prom-client'
import { openAccess } from './access.ts'
import { ConfigError } from './boot-error.ts'
import { type Config, loadConfig, renderProblem } from './config/index.ts'
import { type ConfigFile, textAsFile } from './core/config-file.ts'
import { GatewayError, internal } from './core/errors.ts'
import { errorOf, UpstreamFault } from './core/failure.ts'
import { clientRequestId, type RequestId } from './core/ids.ts'
import { usdOf } from './core/money.ts'
import { outline } from './core/outline.ts'
import type {
  CancelSignal,
  Clock,
  Environment,
  Fingerprint,
  ImageFetchPort,
  Log,
  MakeResponse,
  ReadFile,
  Tokenizer,
  UpstreamPort,
} from './core/ports.ts'
import type { Reply } from './core/reply.ts'
import { DataPlane } from './data-plane/index.ts'
import { errorReply, partsOf, withoutBody } from './edge.ts'
import { Prober } from './health/index.ts'
import { LiveConfig } from './live-config.ts'
import { createSeries, metricsRecorder } from './metrics/index.ts'
import { type Overview, overviewOf } from './overview.ts'
import { kinds } from './providers/index.ts'
import { Records } from './records.ts'
import { logRecorder } from './request-log.ts'
import { Breakers } from './resilience/index.ts'
import { createRouter } from './router.ts'
import { routesOf } from './routes.ts'
import { buildSnapshot } from './snapshot/index.ts'
import type { OpenStore } from './store/index.ts'
import { silentLog, webClock, webResponse, webUpstream } from './web-ports.ts'

export interface GatewayOptions {
  /** The text of the configuration file. */
  readonly config: string
  /** That file, for reloads and for the admin API to replace it; without it neither is possible. */
  readonly configFile?: ConfigFile | undefined
  /** Overrides and credentials. Nothing is read from the process by itself. */
  readonly env?: Environment | undefined
  readonly clock?: Clock | undefined
  /** Makes the log once the configured format is known; silent by default. */
  readonly log?: ((format: LogFormat) => Log) | undefined
  readonly upstream?: UpstreamPort | undefined
  /** Makes the answers; those of `webResponse` by default. */
  readonly response?: MakeResponse | undefined
  /** Fetches remote images for embeddings, where the configuration allows it. */
  readonly imageFetch?: ImageFetchPort | undefined
  /** Counts tokens exactly, for `tokenizer.mode` `accurate`; without it they are estimated by bytes. */
  readonly tokenizer?: Tokenizer | undefined
  /** Reads the files that credentials name; without it they must be given as contents. */
  readonly readFile?: ReadFile | undefined
  /** Recognizes the keys of clients; without it each request costs a BLAKE3 hash. */
  readonly fingerprint?: Fingerprint | undefined
  /** Opens the database of keys, budgets and usage; without it `auth.enabled` cannot be true. */
  readonly openStore?: OpenStore | undefined
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
  /** As of the start. */
  readonly overview: Overview
  readonly log: Log
  readonly registry: Registry
  /** Requests of the data plane that have not ended, streams included. */
  readonly inFlight: number
  /** Serves what the configuration file says now; what cannot serve changes nothing. Never rejects. */
  reload(): Promise<void>
  /** Like `reload`, but only when the file is another one than before. */
  refresh(): Promise<void>
  /** Ends what is still running: streams with their terminal frame, all else with an error. */
  drain(): void
  /**
   * Saves what is not yet in the database and frees everything. The gateway must not be used
   * afterwards. Resolves to what could not be saved.
   */
  close(): Promise<Unsaved>
}

/** What a gateway could not save before it closed: nothing, as a rule. */
export interface Unsaved {
  /** Rows of the usage log. */
  readonly rows: number
  /** What keys have spent, in US dollars. */
  readonly spend: number
}

/**
 * Builds the whole gateway. Rejects with `ConfigError` when the configuration cannot serve, and
 * with `StartError` when it could, but not here and now.
 */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const {
    env = {},
    clock = webClock,
    upstream = webUpstream,
    response = webResponse,
    random = Math.random,
  } = options
  const { config, warnings } = await readConfig(options.config, env)
  const log = options.log?.(config.log_format) ?? silentLog
  if (config.tokenizer.mode === 'accurate' && !options.tokenizer) {
    log.write(
      'warn',
      'tokenizer.mode is accurate, but this host cannot count: tokens are estimated',
    )
  }

  const breakers = new Breakers(clock)
  const snapshot = () => live.snapshot
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
  const { access, storedKeys } = await openAccess({
    config,
    env,
    clock,
    log,
    upstream,
    random,
    openStore: options.openStore,
    fingerprint: options.fingerprint,
    registry: series.registry,
    dropped: (rows) => series.usageDropped.inc(rows),
  })
  const live = new LiveConfig({
    config,
    text: options.config,
    file: options.configFile ?? textAsFile(options.config),
    storedKeys,
    env,
    ports: { env, clock, upstream, readFile: options.readFile },
    access,
    log,
    applied(current) {
      breakers.retain(current.models())
      prober.start()
      series.reloads.inc()
    },
    failed: () => series.reloadFailures.inc(),
  })
  const records = new Records({
    recorders: [
      metricsRecorder(series, { metadataLabels, maxSeries }),
      access.record,
      logRecorder(log),
    ],
    clock,
    isIdle: () => plane.inFlight === 0,
  })
  const plane = new DataPlane({
    gatekeeper: access.gatekeeper,
    snapshot,
    clock,
    log,
    imageFetch: options.imageFetch,
    tokenizer: options.tokenizer,
    breakers,
    random,
    record: (settlement) => records.add(settlement),
    attempted: ({ id: model, provider }, outcome) =>
      series.attempts.inc({ provider: provider.name, model, outcome }),
    metadataRejected: () => series.metadataRejected.inc(),
  })
  const route = createRouter({
    ...routesOf({
      plane,
      snapshot,
      prober,
      metrics() {
        records.flush()
        return series.registry.metrics()
      },
      metricsType: series.registry.contentType,
      gatekeeper: access.gatekeeper,
    }),
    ...access.routes({
      document: live.document,
      bodyLimit: () => snapshot().bodyLimit,
      providers: () => snapshot().providers.map(({ name }) => name),
      takeKeys: () => live.takeKeys(),
    }),
  })

  const overview = overviewOf({ config, snapshot: live.snapshot, warnings })
  for (const warning of overview.warnings) log.write('warn', warning)
  prober.start()
  return {
    async fetch(request, context) {
      const id = clientRequestId(request.headers.get('x-request-id')) ?? newRequestId()
      const signal = context?.signal ?? request.signal
      let reply: Reply
      try {
        reply = await route(request, { id, signal })
      } catch (error) {
        reply = errorReply(asGatewayError(error, id, log), id)
      }
      return response(partsOf(request.method === 'HEAD' ? withoutBody(reply) : reply, id))
    },
    get settings() {
      const { host, port, body_limit: bodyLimit } = live.config.server
      return { host, port, bodyLimit }
    },
    overview,
    log,
    registry: series.registry,
    get inFlight() {
      return plane.inFlight
    },
    reload: () => live.reload(),
    refresh: () => live.refresh(),
    drain: () => plane.drain(),
    async close() {
      prober.stop()
      plane.drain()
      await plane.close()
      records.flush()
      const { rows, spend } = await access.close()
      return { rows, spend: usdOf(spend) }
    },
  }
}

export type ConfigVerdict =
  | { readonly ok: true; readonly overview: Overview }
  | { readonly ok: false; readonly problems: readonly string[] }

/** Judges a configuration as a boot would, without serving it: no listener, no network. */
export async function checkConfig(text: string, env: Environment): Promise<ConfigVerdict> {
  try {
    const { config, warnings } = await readConfig(text, env)
    const snapshot = buildSnapshot(config, { env, clock: webClock, upstream: webUpstream })
    return { ok: true, overview: overviewOf({ config, snapshot, warnings }) }
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
