import { openAccess } from './access/index.ts'
import { openMasterKey } from './auth/index.ts'
import { AnswerCache, SharedAnswers, type SharedAnswersOptions } from './cache/index.ts'
import { CloudCredentials } from './cloud/index.ts'
import type { Config, LoadedConfig, LoadResult } from './config/index.ts'
import { textAsFile } from './core/config-file.ts'
import type { Bytes } from './core/ids.ts'
import type { Clock, Environment, Log } from './core/ports.ts'
import type { SharedState } from './core/shared-state.ts'
import { divideLimit, shareLimit, soleWorker, type Workers } from './core/workers.ts'
import { DataPlane } from './data-plane/index.ts'
import { ModelDiscovery } from './discovery/index.ts'
import { Activity, Prober, Readiness } from './health/index.ts'
import { createSeries, metricsEvents, metricsSink, noMeters } from './metrics/index.ts'
import type { GatewayOptions } from './options.ts'
import { RecordBatcher, requestLogSink } from './records/index.ts'
import { ConfigReloader } from './reload/index.ts'
import {
  Breakers,
  Credentials,
  ParkedInProcess,
  SharedCircuits,
  SharedParkings,
} from './resilience/index.ts'
import { RoomsInProcess, SharedRooms } from './rooms/index.ts'
import { Affinity, SharedPins, TrafficInProcess, WorkerPins } from './routing/index.ts'
import { nameSharing, openSharedState } from './shared/index.ts'
import { createStartTrace } from './traces/index.ts'
import { silentLog, webClock, webResponse, webStreams, webUpstream } from './web/index.ts'
import { BodyLimiter } from './wire/body-limiter.ts'
import { Buffers } from './wire/buffers.ts'
import type { CancelScope } from './wire/cancel-scope.ts'
import { InFlightSet } from './wire/in-flight-set.ts'
import { isUtf8 } from './wire/utf8.ts'

export type Ports = ReturnType<typeof openPorts>

const defaultBufferLimit: Bytes = 512 * 1024 * 1024

/** The ports of the host, with those of the platform in place of the ones that it lacks. */
export function openPorts(options: GatewayOptions, { log_format: logFormat }: Config) {
  const metrics = options.metrics?.()
  return {
    ...options,
    configFile: options.configFile ?? textAsFile(options.config),
    env: options.env ?? {},
    clock: options.clock ?? webClock,
    afterTurn: options.afterTurn ?? ((run) => run()),
    log: options.log?.(logFormat) ?? silentLog,
    upstream: options.upstream ?? webUpstream,
    response: options.response ?? webResponse,
    streams: options.streams ?? webStreams,
    bufferLimit: options.bufferLimit ?? defaultBufferLimit,
    allowSecond: options.allowSecond ?? false,
    random: options.random ?? Math.random,
    isUtf8: options.isUtf8 ?? isUtf8,
    workers: options.workers ?? soleWorker(),
    metrics,
    meters: metrics ?? noMeters,
  }
}

export interface LoadedStart {
  /** Validates a text as a start does. */
  readonly load: (text: string) => Promise<LoadResult>
  readonly loaded: LoadedConfig
}

export type Parts = Awaited<ReturnType<typeof compose>>

/** Builds the parts of a gateway, each from those above it. */
export async function compose(ports: Ports, { load, loaded }: LoadedStart) {
  const { clock, log, bufferLimit, workers } = ports
  const { config } = loaded
  const traces = await ports.traces?.({
    endpoint: config.telemetry.otlp_endpoint,
    sampleRatio: config.telemetry.trace_sample_ratio,
    log,
  })
  const series = createSeries(ports.meters, config.telemetry.metadata_labels)
  const events = metricsEvents(series)
  const shared = await openSharedState(config, ports)
  const { access, storedKeys } = await openAccess({
    ...ports,
    config,
    events,
    shared,
    sharing: nameSharing(config, ports),
  }).catch(async (error: unknown) => {
    await shared?.close()
    throw error
  })
  const activity = new Activity(clock)
  const { random, cloudCredentials: fetch } = ports
  const clouds = new CloudCredentials({ fetch, clock, log, random })
  const discovery = new ModelDiscovery({ clock, log, env: ports.env, events })
  const reloader = new ConfigReloader({
    start: { text: ports.config, loaded, storedKeys },
    load,
    file: ports.configFile,
    access,
    log,
    events,
    workers,
    ports: {
      ...ports,
      openCloud: fetch && clouds.open,
      openList: discovery.open,
      watch: (send) => activity.watch(send),
    },
  })
  const buffers = new Buffers(() => {
    const { buffer_limit: limit } = reloader.config.server
    return limit === undefined ? bufferLimit : divideLimit(limit, workers)
  })
  const bodyLimiter = new BodyLimiter(buffers, () =>
    divideLimit(reloader.config.server.large_bodies, workers),
  )
  const circuits =
    shared && new SharedCircuits({ shared, clock, lease: config.shared?.lease_ms ?? 0 })
  const breakers = new Breakers(clock, circuits)
  const credentials = new Credentials(
    clock,
    shared ? new SharedParkings({ shared, clock }) : new ParkedInProcess(),
  )
  const traffic = new TrafficInProcess(clock)
  const rooms = openRooms({ config, clock, shared, workers })
  const affinity = new Affinity({
    clock,
    onResult: (result) => events.affinityUsed(result),
    exchange: openPinExchange(shared, workers),
  })
  const onEvict = () => events.cacheEvicted()
  const answers = shared && (await openSharedAnswers({ ...ports, config, shared, onEvict }))
  const cache = new AnswerCache({ clock, digest: ports.digest, onEvict, shared: answers })
  const prober = new Prober({
    clock,
    activity,
    providers: () => reloader.snapshot.providers,
    policy: () => reloader.snapshot.healthCheck,
  })
  const parts = {
    ports,
    traces,
    series,
    events,
    shared,
    access,
    clouds,
    discovery,
    reloader,
    bodyLimiter,
    breakers,
    credentials,
    traffic,
    rooms,
    affinity,
    cache,
  }
  const { plane, records } = composeRequests(parts, config)
  return { ...parts, buffers, activity, prober, readiness: new Readiness(), plane, records }
}

interface RoomParts {
  readonly config: Config
  readonly clock: Clock
  readonly shared: SharedState | undefined
  readonly workers: Workers
}

/** The places at upstreams: those of all processes, or this worker's part of them. */
function openRooms({ config, clock, shared, workers }: RoomParts): RoomsInProcess | SharedRooms {
  if (!shared || !config.shared) {
    return new RoomsInProcess({ clock, share: (limit) => shareLimit(limit, workers) })
  }
  const { lease_ms: lease, on_loss: onLoss } = config.shared
  return new SharedRooms({ shared, clock, lease, onLoss })
}

/** How processes learn each other's pins; undefined for the only one. */
function openPinExchange(shared: SharedState | undefined, workers: Workers) {
  if (shared) return new SharedPins(shared)
  return workers.count > 1 ? new WorkerPins(workers) : undefined
}

interface AnswerParts extends Omit<SharedAnswersOptions, 'sealer'> {
  readonly config: Config
  readonly env: Environment
  readonly log: Log
}

/** The cache that all processes have in common; undefined without a secret that all of them have. */
async function openSharedAnswers(parts: AnswerParts): Promise<SharedAnswers | undefined> {
  const { env, config, log } = parts
  const master = await openMasterKey(env['GATEWAY_MASTER_KEY']).catch(() => undefined)
  if (master) return SharedAnswers.open({ ...parts, sealer: master.sealer })
  if (config.cache.enabled) {
    log.write(
      'warn',
      'the cache is not shared: set GATEWAY_MASTER_KEY, with which answers are sealed',
    )
  }
  return undefined
}

type RequestParts = Pick<
  Parts,
  | 'ports'
  | 'traces'
  | 'series'
  | 'events'
  | 'access'
  | 'reloader'
  | 'bodyLimiter'
  | 'breakers'
  | 'credentials'
  | 'traffic'
  | 'rooms'
  | 'affinity'
  | 'cache'
>

/** Builds the data plane and the sinks of its records. */
function composeRequests(parts: RequestParts, { telemetry }: Config) {
  const { ports, traces, series, events, access, reloader, cache } = parts
  const { bodyLimiter, breakers, credentials, traffic, rooms, affinity } = parts
  const { clock, log, streams, imageFetch, tokenizer, random } = ports
  const { metadata_labels: metadataLabels, max_series: maxSeries } = telemetry
  const inFlight = new InFlightSet<CancelScope>()
  const records = new RecordBatcher({
    sinks: [metricsSink(series, { metadataLabels, maxSeries }), requestLogSink({ log, clock })],
    clock,
    isIdle: () => inFlight.size === 0,
    afterTurn: ports.afterTurn,
  })
  const plane = new DataPlane({
    authenticator: access.authenticator,
    snapshot: () => reloader.snapshot,
    clock,
    isUtf8: ports.isUtf8,
    log,
    streams,
    imageFetch,
    cache,
    tokenizer,
    breakers,
    credentials,
    traffic,
    rooms,
    affinity,
    bodyLimiter,
    random,
    record(record) {
      access.record(record)
      records.add(record)
    },
    reported: () => access.reported,
    hold(record) {
      const add = access.recordPending(record)
      return (final) => {
        add(final)
        records.add(final)
      }
    },
    startTrace: traces && createStartTrace(traces, clock),
    events,
    inFlight,
  })
  return { plane, records }
}
