import { openAccess, startProblems } from './access/index.ts'
import { type LoadedConfig, type LoadResult, loadConfig, renderProblem } from './config/index.ts'
import { type ConfigFile, textAsFile } from './core/config-file.ts'
import type { Fetch } from './core/fetch.ts'
import type { Millis } from './core/ids.ts'
import type { MetricsPort } from './core/metrics.ts'
import { toUsd } from './core/money.ts'
import type { Overview } from './core/overview.ts'
import type {
  Clock,
  Environment,
  Fingerprint,
  ImageFetchPort,
  Log,
  LogFormat,
  MakeResponse,
  ReadFile,
  Tokenizer,
  UpstreamPort,
} from './core/ports.ts'
import { ConfigError } from './core/start-error.ts'
import type { StreamClasses } from './core/streams.ts'
import { DataPlane } from './data-plane/index.ts'
import { Activity, Prober } from './health/index.ts'
import { createFetch, createRouter, createRoutes } from './http/index.ts'
import { createSeries, metricsEvents, metricsSink, noMeters } from './metrics/index.ts'
import { kinds } from './providers/index.ts'
import { RecordBatcher, requestLogSink, unroutedLog } from './records/index.ts'
import { ConfigReloader, findPortWarnings } from './reload/index.ts'
import { Breakers } from './resilience/index.ts'
import { buildSnapshot, createOverview } from './snapshot/index.ts'
import type { OpenStore } from './store/index.ts'
import { silentLog, webClock, webResponse, webStreams, webUpstream } from './web/index.ts'
import { BodyLimiter } from './wire/body-limiter.ts'
import { Buffers } from './wire/buffers.ts'

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
  /** The classes that the chains of streams are made of; those of `webStreams` by default. */
  readonly streams?: StreamClasses | undefined
  /** Fetches remote images for embeddings, where the configuration allows it. */
  readonly imageFetch?: ImageFetchPort | undefined
  /** What bodies and queues may take together, in bytes, unless it is configured; 512 MiB by default. */
  readonly bufferLimit?: number | undefined
  /** Counts tokens exactly, for `tokenizer.mode` `accurate`; without it they are estimated by bytes. */
  readonly tokenizer?: Tokenizer | undefined
  /** Reads the files that credentials name; without it they must be given as contents. */
  readonly readFile?: ReadFile | undefined
  /** Recognizes the keys of clients; without it each request costs a BLAKE3 hash. */
  readonly fingerprint?: Fingerprint | undefined
  /** Opens the database of keys, budgets and usage; without it `auth.enabled` cannot be true. */
  readonly openStore?: OpenStore | undefined
  /** Makes the metrics, called once; without it nothing is counted, and there is no `/metrics`. */
  readonly metrics?: (() => MetricsPort) | undefined
  /**
   * With auth, starts although another gateway works on the same database. Each counts budgets and
   * limits by itself, so together they grant them twice.
   */
  readonly allowSecond?: boolean | undefined
  /** Chance, from 0 up to 1, for the jitter of retries. */
  readonly random?: (() => number) | undefined
}

/** What a host must know of the configuration. */
export interface HostSettings {
  readonly host: string
  readonly port: number
  /** Bytes. */
  readonly bodyLimit: number
  /** Origins of pages that may read answers; `*` is every one. */
  readonly corsOrigins: readonly string[]
  /** Connections of one address at a time; 0 is without a limit. */
  readonly maxConnectionsPerAddress: number
}

export interface Gateway {
  readonly fetch: Fetch
  readonly settings: HostSettings
  /** As of the start. */
  readonly overview: Overview
  readonly log: Log
  /** What the gateway holds for its clients, to which a host adds what waits for them. */
  readonly buffers: Pick<Buffers, 'openAccount' | 'bytes'>
  /** Requests of the data plane that have not ended, streams included. */
  readonly inFlight: number
  /** Serves what the configuration file says now; what cannot serve changes nothing. Never rejects. */
  reload(): Promise<void>
  /** Like `reload`, but only when the file is another one than before. */
  refresh(): Promise<void>
  /** Ends what is still running: streams with their terminal frame, all else with an error. */
  drain(): void
  /**
   * Saves what is not yet in the database, for at most `within` milliseconds (4,000), and frees
   * everything. The gateway must not be used afterwards. Resolves to what could not be saved.
   */
  close(within?: Millis): Promise<Unsaved>
}

/** What a gateway could not save before it closed: nothing, as a rule. */
export interface Unsaved {
  /** Rows of the usage log. */
  readonly rows: number
  /** What keys have spent, in US dollars. */
  readonly spend: number
}

/** Bytes, where the host does not say what it has. */
const usualBufferLimit = 512 * 1024 * 1024

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
    streams = webStreams,
    random = Math.random,
  } = options
  const load = loader(options)
  const loaded = await accepted(load(options.config))
  const { config, warnings } = loaded
  const log = options.log?.(config.log_format) ?? silentLog

  const { bufferLimit = usualBufferLimit } = options
  const buffers = new Buffers(() => live.config.server.buffer_limit ?? bufferLimit)
  const intake = new BodyLimiter(buffers, () => live.config.server.large_bodies)
  const breakers = new Breakers(clock)
  const snapshot = () => live.snapshot
  const activity = new Activity({ clock, isWanted: () => snapshot().healthCheck.enabled })
  const prober = new Prober({
    clock,
    providers: () => snapshot().providers,
    policy: () => snapshot().healthCheck,
    activity,
  })
  const { metadata_labels: metadataLabels, max_series: maxSeries } = config.telemetry
  const metrics = options.metrics?.()
  const meters = metrics ?? noMeters
  const series = createSeries({
    meters,
    metadataLabels,
    circuits: () => breakers.states(),
    inFlight: () => plane.inFlight,
    bufferedBytes: () => buffers.bytes,
    health: () =>
      snapshot().providers.map((provider) => [provider.name, prober.getResult(provider)]),
  })
  const events = metricsEvents(series)
  const { access, storedKeys } = await openAccess({
    config,
    env,
    clock,
    log,
    upstream,
    random,
    openStore: options.openStore,
    allowSecond: options.allowSecond ?? false,
    fingerprint: options.fingerprint,
    meters,
    events,
  })
  const live = new ConfigReloader({
    loaded,
    text: options.config,
    load,
    file: options.configFile ?? textAsFile(options.config),
    storedKeys,
    ports: {
      env,
      clock,
      upstream,
      readFile: options.readFile,
      watch: (send) => activity.watch(send),
    },
    access,
    log,
    events,
    onSwap(current) {
      breakers.retain(current.models())
      intake.admitWaiting()
      prober.start()
    },
  })
  const records = new RecordBatcher({
    recorders: [
      metricsSink(series, { metadataLabels, maxSeries }),
      access.record,
      requestLogSink({ log, clock }),
    ],
    clock,
    isIdle: () => plane.inFlight === 0,
  })
  const plane = new DataPlane({
    gatekeeper: access.authenticator,
    snapshot,
    clock,
    log,
    streams,
    imageFetch: options.imageFetch,
    tokenizer: options.tokenizer,
    breakers,
    intake,
    random,
    record: (settlement) => records.add(settlement),
    attempted: events.upstreamAttempted,
    unfinished: events.streamUnfinished,
    metadataRejected: events.metadataRejected,
  })
  const find = createRouter({
    ...createRoutes({
      plane,
      snapshot,
      prober,
      metrics: metrics && {
        contentType: metrics.contentType,
        exposition() {
          records.flush()
          return metrics.exposition()
        },
      },
      authenticator: access.authenticator,
    }),
    ...access.adminRoutes({
      document: live,
      intake,
      bodyLimit: () => snapshot().bodyLimit,
      providers: () => snapshot().providers.map(({ name }) => name),
      reloadProviderKeys: () => live.reloadProviderKeys(),
    }),
  })

  const unrouted = unroutedLog({ log, clock })
  const overview = createOverview({ config, snapshot: live.snapshot, warnings })
  for (const warning of overview.warnings) log.write('warn', warning)
  prober.start()
  return {
    fetch: createFetch({
      find,
      corsOrigins: () => live.config.server.cors_origins,
      durations: series.httpDurations,
      clock,
      log,
      unrouted,
      response,
    }),
    get settings() {
      const { server } = live.config
      return {
        host: server.host,
        port: server.port,
        bodyLimit: server.body_limit,
        corsOrigins: server.cors_origins,
        maxConnectionsPerAddress: server.max_connections_per_address,
      }
    },
    overview,
    log,
    buffers,
    get inFlight() {
      return plane.inFlight
    },
    reload: () => live.reload(),
    refresh: () => live.refresh(),
    drain: () => plane.drain(),
    async close(within = 4_000) {
      const limit = clock.schedule(within, () => access.abandon())
      prober.stop()
      plane.drain()
      await plane.close()
      records.flush()
      unrouted.close()
      const { rows, spend } = await access.close()
      limit.cancel()
      return { rows, spend: toUsd(spend) }
    },
  }
}

export type ConfigVerdict =
  | {
      readonly ok: true
      readonly overview: Overview
      /** Keys that the start needs and that the environment lacks, or has in a wrong form. */
      readonly startProblems: readonly string[]
    }
  | { readonly ok: false; readonly problems: readonly string[] }

/**
 * Judges a configuration as a boot would, without serving it: no listener, no network. Without
 * `readFile` the files that it names are not looked at.
 */
export async function checkConfig(
  text: string,
  env: Environment,
  readFile?: ReadFile,
): Promise<ConfigVerdict> {
  try {
    const { config, warnings } = await accepted(loadConfig({ text, env, kinds, readFile }))
    const snapshot = buildSnapshot(config, { env, clock: webClock, upstream: webUpstream })
    return {
      ok: true,
      overview: createOverview({ config, snapshot, warnings }),
      startProblems: await startProblems(config, env),
    }
  } catch (error) {
    if (error instanceof ConfigError) return { ok: false, problems: error.problems }
    throw error
  }
}

/** Makes the function that judges a text, warnings about the host's own ports included. */
function loader({ env = {}, readFile = readsNoFiles, ...ports }: GatewayOptions) {
  return async (text: string): Promise<LoadResult> => {
    const result = await loadConfig({ text, env, kinds, readFile })
    if (!result.ok) return result
    return { ...result, warnings: [...result.warnings, ...findPortWarnings(result, ports)] }
  }
}

const readsNoFiles: ReadFile = () => Promise.reject(new Error('this host reads no files'))

async function accepted(loading: Promise<LoadResult>): Promise<LoadedConfig> {
  const result = await loading
  if (!result.ok) throw new ConfigError(result.problems.map(renderProblem))
  return result
}
