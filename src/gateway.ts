import { renderCheck } from './admin/index.ts'
import type { CacheSettings } from './cache/index.ts'
import { compose, openPorts, type Parts } from './compose.ts'
import type { Config, LoadedConfig } from './config/index.ts'
import { noAuth } from './core/admission.ts'
import type { CredentialState } from './core/credential-state.ts'
import type { Explain, ExplainedRequest } from './core/explain.ts'
import type { Millis, RequestId } from './core/ids.ts'
import { nameInMetrics } from './core/model-pattern.ts'
import { toUsd } from './core/money.ts'
import type { Provider } from './core/provider.ts'
import type { CheckProvider } from './core/provider-check.ts'
import { divideLimit, type Workers } from './core/workers.ts'
import { createHealthReport, healthTopic, mergeHealthReports } from './health/index.ts'
import {
  chooseForm,
  createCheckProvider,
  createExplain,
  createFetch,
  createRouter,
  createRoutes,
} from './http/index.ts'
import { addBudgetGauges, addGauges, createExposition } from './metrics/index.ts'
import type { ExplainedText, Gateway, GatewayOptions, HostSettings } from './options.ts'
import { type RefusalLog, unroutedLog } from './records/index.ts'
import { createLoader, requireValid } from './reload/index.ts'
import { reportRoutes } from './routing/index.ts'
import { createOverview, describeCredentials, type Snapshot } from './snapshot/index.ts'
import { LightAbortController } from './wire/light-abort-controller.ts'

/**
 * Creates a gateway from a configuration and the ports of its host. Rejects with `ConfigError` when
 * the configuration is invalid, and with `StartError` when its database cannot be used.
 *
 * @example
 * ```ts
 * import { createGateway } from 'model-gateway'
 *
 * const gateway = await createGateway({
 *   config: `
 *     [[providers]]
 *     name = "demo"
 *     kind = "demo"
 *     [[providers.models]]
 *     id = "demo"
 *   `,
 * })
 * const response = await gateway.fetch(
 *   new Request('http://gateway/v1/chat/completions', {
 *     method: 'POST',
 *     body: JSON.stringify({ model: 'demo', messages: [{ role: 'user', content: 'Hello' }] }),
 *   }),
 * )
 * console.log(response.status)
 * // 200
 * await gateway.close()
 * ```
 */
export async function createGateway(options: GatewayOptions): Promise<Gateway> {
  const load = createLoader(options)
  const loaded = requireValid(await load(options.config), options.configFile?.name)
  const ports = openPorts(options, loaded.config)
  const parts = await compose(ports, { load, loaded })
  parts.clouds.follow(parts.reloader.snapshot.clouds)
  await parts.clouds.settle()
  return serve(parts, loaded)
}

/** Connects the parts, starts the health checks, and returns the gateway. */
function serve(parts: Parts, { config, warnings }: LoadedConfig): Gateway {
  const { ports, series, access, reloader, buffers, readiness, plane } = parts
  const { clock, log, response } = ports
  const unrouted = unroutedLog({ log, clock })
  const overview = createOverview({ config, snapshot: reloader.snapshot, warnings })
  for (const warning of overview.warnings) log.write('warn', warning)
  connect(parts)
  addReadSeries(parts, config)
  const explain = createExplain(plane)
  const checkProvider = createCheckProvider({ plane, snapshot: () => reloader.snapshot })
  return {
    fetch: createFetch({
      find: createRouter(listAllRoutes(parts, { explain, checkProvider }), chooseForm),
      corsOrigins: () => reloader.config.server.cors_origins,
      durations: series.httpDurations,
      clock,
      log,
      unrouted,
      response,
    }),
    get settings() {
      return toHostSettings(reloader.config)
    },
    overview,
    log,
    buffers,
    get inFlight() {
      return plane.inFlight
    },
    explain: (question) => explain(asAnyone(question)),
    async check(question) {
      const checked = await checkProvider({ ...question, origin: newOrigin() })
      return checked && JSON.stringify(renderCheck(checked))
    },
    reload: () => reloader.reload(),
    refresh: () => reloader.refresh(),
    startDraining: () => readiness.startDraining(),
    drain() {
      readiness.startDraining()
      plane.drain()
    },
    async close(within = 4_000) {
      readiness.startDraining()
      const limit = clock.schedule(within, () => access.abandon())
      const end = clock.elapsed() + within
      const timeLeft = () => Math.max(0, end - clock.elapsed())
      const unsaved = await close(parts, { unrouted, timeLeft })
      limit.cancel()
      return unsaved
    },
  }
}

/** The request of an unlimited sender. */
function asAnyone({ path, body, metadata }: ExplainedText): ExplainedRequest {
  const bytes = new TextEncoder().encode(body)
  return { path, body: bytes, metadata, authenticator: noAuth, origin: newOrigin() }
}

/** That of a request which the host makes itself. */
function newOrigin() {
  // A UUID consists of safe characters.
  return { id: crypto.randomUUID() as RequestId, signal: new LightAbortController() }
}

/** Lets the parts with state of their own follow the snapshot. */
function connect(parts: Parts) {
  const {
    clouds,
    access,
    reloader,
    breakers,
    credentials,
    traffic,
    rooms,
    cache,
    activity,
    bodyLimiter,
    prober,
    discovery,
  } = parts
  const { workers } = parts.ports
  const follow = (snapshot: Snapshot) => {
    const findMatch = (provider: string, id: string) => snapshot.findMatch(provider, id)
    breakers.retain(snapshot.links(), findMatch)
    traffic.retain(snapshot.links(), findMatch)
    rooms.configure(snapshot.links())
    cache.configure(shareCache(snapshot.cache, workers))
    activity.setEnabled(snapshot.healthCheck.enabled)
    bodyLimiter.admitWaiting()
    prober.start()
    discovery.follow(snapshot.providers)
  }
  reloader.onSwap((snapshot) => {
    clouds.follow(snapshot.clouds)
    credentials.forgetRefused()
    follow(snapshot)
  })
  follow(reloader.snapshot)
  access.followChanges({ refreshProviderKeys: () => reloader.refreshProviderKeys() })
}

/** The memory of the cache is divided among the workers, each of which has one. */
function shareCache({ policy, revisions }: CacheSettings, workers: Workers): CacheSettings {
  return { revisions, policy: { ...policy, maxBytes: divideLimit(policy.maxBytes, workers) } }
}

/** Adds the series that are read at each scrape. */
function addReadSeries(parts: Parts, { telemetry }: Config) {
  const { ports, shared, access, reloader, breakers, credentials, traffic, rooms } = parts
  const { affinity, cache } = parts
  const { prober, plane, buffers, discovery } = parts
  const { meters, metrics } = ports
  addGauges(meters, {
    runtime: metrics?.runtime,
    isReady: () => parts.readiness.status === 'ready',
    isSharedStateUp: () => shared?.isUp,
    circuits: () => breakers.states(),
    nameModel: (provider, id) =>
      nameInMetrics({ id, match: reloader.snapshot.findMatch(provider, id) }),
    inFlight: () => plane.inFlight,
    loads: () => traffic.listInFlight(),
    queues: () => rooms.listQueues(),
    bufferedBytes: () => buffers.bytes,
    pins: () => affinity.size,
    cache,
    pools: () => listPools({ reloader, credentials }),
    modelLists: () => discovery.report(),
    health: () =>
      reloader.snapshot.providers.map((provider) => [provider.name, prober.getResult(provider)]),
  })
  if (telemetry.budget_series) {
    addBudgetGauges(meters, { budgets: () => access.budgets(), maxSeries: telemetry.max_series })
  }
}

function listPools({ reloader, credentials }: Pick<Parts, 'reloader' | 'credentials'>) {
  return reloader.snapshot.providers
    .filter(({ usable }) => usable.length > 1)
    .map((provider) => ({ provider: provider.name, parked: credentials.listParked(provider) }))
}

/** Reads the limits of calls at once, in the order of the configuration. */
async function readRooms({ reloader, rooms }: Pick<Parts, 'reloader' | 'rooms'>) {
  const limits = reloader.snapshot.models().flatMap(({ room }) => room ?? [])
  // Models of one provider have its limit in common.
  const named = new Map(limits.map((limit) => [limit.name, limit]))
  return { areShared: rooms.areShared, readings: await rooms.read([...named.values()]) }
}

function reportCredentials({ reloader, credentials }: Pick<Parts, 'reloader' | 'credentials'>) {
  const report = (provider: Provider): CredentialState => {
    const known = describeCredentials(provider)
    const parked = new Set(credentials.listParked(provider).map(({ credential }) => credential))
    if (parked.size === 0) return known
    return { state: 'parked', detail: `${parked.size} parked (${known.detail})` }
  }
  return Object.fromEntries(
    reloader.snapshot.providers.map((provider) => [provider.name, report(provider)]),
  )
}

interface Asked {
  readonly explain: Explain
  readonly checkProvider: CheckProvider
}

function listAllRoutes(parts: Parts, { explain, checkProvider }: Asked) {
  const { ports, access, reloader, prober, plane, records, bodyLimiter, breakers, cache, traffic } =
    parts
  const { readiness } = parts
  const { metrics, workers } = ports
  const snapshot = () => reloader.snapshot
  const flushRecords = () => records.flush()
  const reportHealth = () => createHealthReport(snapshot().providers, prober)
  workers.answer(healthTopic, reportHealth)
  return {
    ...createRoutes({
      plane,
      snapshot,
      health: async () => mergeHealthReports(await workers.ask(healthTopic, undefined)),
      readiness,
      metrics: metrics && {
        contentType: metrics.contentType,
        exposition: createExposition({ metrics, workers, flushRecords }),
      },
      authenticator: access.authenticator,
      ownKey: access.ownKeyRoutes(),
    }),
    ...access.adminRoutes({
      document: reloader,
      bodyLimiter,
      bodyLimit: () => snapshot().bodyLimit,
      providers: () => snapshot().providers.map(({ name }) => name),
      findModel: (id) => snapshot().findModel(id),
      models: () => snapshot().models(),
      offered: () => snapshot().routes(),
      listed: () => snapshot().listed(),
      traceSettings: () => reloader.traceSettings(),
      clearCache: () => cache.clear(),
      reloadProviderKeys: () => reloader.reloadProviderKeys(),
      explain,
      checkProvider,
      inFlight: () => plane.inFlight,
      pins: () => parts.affinity.size,
      circuits: () => breakers.states(),
      modelLists: () => parts.discovery.report(),
      pools: () => listPools(parts),
      rooms: () => readRooms(parts),
      credentials: () => reportCredentials(parts),
      reportRoutes: () =>
        reportRoutes(snapshot().routes(), { traffic, cooldown: snapshot().breaker.cooldown }),
      getCircuit: (link) => breakers.getState(link),
      health: reportHealth,
      flushRecords,
      workers,
    }),
  }
}

function toHostSettings({ server }: Config): HostSettings {
  return {
    host: server.host,
    port: server.port,
    bodyLimit: server.body_limit,
    corsOrigins: server.cors_origins,
    maxConnectionsPerAddress: server.max_connections_per_address,
    drainDelay: server.drain_delay_ms,
  }
}

interface CloseOptions {
  readonly unrouted: RefusalLog
  /** Returns how much time is left. */
  readonly timeLeft: () => Millis
}

/** Ends the requests, then the records, then what must outlive both: the database and the shared state. */
async function close(parts: Parts, { unrouted, timeLeft }: CloseOptions) {
  const { clouds, discovery, prober, plane, records, shared, access, traces } = parts
  prober.stop()
  discovery.close()
  plane.drain()
  await plane.close()
  clouds.close()
  records.flush()
  unrouted.close()
  const [{ rows, spend }] = await Promise.all([access.close(), traces?.close(timeLeft())])
  await shared?.close()
  return { rows, spend: toUsd(spend) }
}
