import type { UnsavedUsage } from '../accounting/index.ts'
import type {
  AdminRoutes,
  Circuit,
  ConfigDocument,
  CredentialPool,
  CredentialStates,
  ModelRouteDeps,
  RouteRouteDeps,
  SettingsRouteDeps,
  StatusRouteDeps,
} from '../admin/index.ts'
import type { Config, Problem } from '../config/index.ts'
import type { Authenticator } from '../core/admission.ts'
import type { Explain } from '../core/explain.ts'
import type { GatewayEvents } from '../core/gateway-events.ts'
import type { Bytes } from '../core/ids.ts'
import type { Meters } from '../core/metrics.ts'
import type { ModelListReport } from '../core/model-list.ts'
import type { Clock, Environment, Fingerprint, Log, UpstreamPort } from '../core/ports.ts'
import type { Model } from '../core/provider.ts'
import type { CheckProvider } from '../core/provider-check.ts'
import type { RequestRecord } from '../core/request-record.ts'
import type { SharedState, SharedStateName } from '../core/shared-state.ts'
import type { Workers } from '../core/workers.ts'
import type { HealthReport } from '../health/index.ts'
import type { BudgetReading } from '../metrics/index.ts'
import type { OpenStore } from '../store/index.ts'
import type { BodyLimiter } from '../wire/body-limiter.ts'

/** Authentication, budgets and rate limits, and the usage log: everything that `[auth]` turns on. */
export interface AccessControl {
  readonly authenticator: Authenticator
  /** The budgets of all groups, then those of all keys. */
  budgets(): Iterable<BudgetReading>
  /**
   * Adds a finished request to the usage log. Its end is reported when `reported` resolves, and that of
   * a stream at once.
   */
  record(record: RequestRecord): void
  /**
   * Keeps a finished request whose counts are still to come, so that it is not lost. The function that
   * it returns adds the final record.
   */
  recordPending(record: RequestRecord): (final: RequestRecord) => void
  /**
   * Resolves when all finished requests outlast the process, and when the server of the shared state has been
   * sent their ends; undefined when that is so.
   */
  readonly reported: Promise<void> | undefined
  /** Why a valid configuration does not fit the stored secrets; undefined when it does. */
  check(config: Config): Problem | undefined
  /** The stored keys of providers, by the provider's name. Rejects when they cannot be read. */
  providerKeys(): Promise<ReadonlyMap<string, string>>
  /** Applies the settings of a configuration, and loads keys that were created offline. */
  adopt(config: Config): Promise<void>
  adminRoutes(deps: AdminDeps): AdminRoutes
  /** What the holder of a key may read about it. */
  ownKeyRoutes(): AdminRoutes
  /** Applies, from now on, what other processes that share the state change in the database. */
  followChanges(deps: FollowDeps): void
  /** Writes pending usage to the database and closes it. Resolves to what could not be saved. */
  close(): Promise<UnsavedUsage>
  /** Fails every pending call to the database, so that `close` ends. */
  abandon(): void
}

export interface FollowDeps {
  /** Serves the stored keys of providers, if they are not those that are served. */
  readonly refreshProviderKeys: () => Promise<void>
}

/** What the admin routes need of the rest of the gateway. */
export interface AdminDeps extends RouteRouteDeps, ModelRouteDeps, SettingsRouteDeps {
  readonly document: ConfigDocument
  /** Maximum size of a request body. */
  readonly bodyLimit: () => Bytes
  readonly bodyLimiter: BodyLimiter
  /** The names of the configured providers. */
  readonly providers: () => Iterable<string>
  /** Finds a model of the configuration in force. */
  readonly findModel: (id: string) => Model | undefined
  /** Removes all answers from the cache, and returns how many they were. */
  readonly clearCache: () => Promise<number>
  readonly reloadProviderKeys: () => Promise<void>
  readonly explain: Explain
  readonly checkProvider: CheckProvider
  readonly inFlight: () => number
  /** The sessions that are remembered. */
  readonly pins: () => number
  /** The circuits that have been used. */
  readonly circuits: () => Iterable<Circuit>
  readonly pools: () => Iterable<CredentialPool>
  /** What the limits of calls at once have taken. */
  readonly rooms: StatusRouteDeps['rooms']
  /** The lists of models of providers that are asked for them. */
  readonly modelLists: () => readonly ModelListReport[]
  readonly credentials: () => CredentialStates
  /** What this worker knows of its providers. */
  readonly health: () => HealthReport
  /** Passes on the records that still wait in a batch. */
  readonly flushRecords: () => void
}

export interface AccessOptions {
  readonly config: Config
  /** Absent on a host without a database. */
  readonly openStore?: OpenStore | undefined
  /** Starts although another gateway uses the database. */
  readonly allowSecond: boolean
  /** What this gateway shares with others; undefined when it shares nothing. */
  readonly shared: SharedState | undefined
  /** The name of the shared state, for messages. */
  readonly sharing: SharedStateName | undefined
  readonly fingerprint?: Fingerprint | undefined
  readonly env: Environment
  readonly clock: Clock
  readonly log: Log
  readonly upstream: UpstreamPort
  readonly workers: Workers
  readonly random: () => number
  readonly meters: Meters
  readonly events: Pick<GatewayEvents, 'usageDropped' | 'usageUnjournaled'>
}
