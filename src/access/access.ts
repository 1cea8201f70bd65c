import {
  BudgetAlerts,
  type KeyEntry,
  KeyRegistry,
  Retention,
  SpendFlusher,
  type Unsaved,
  UsageLog,
  usageLogSink,
} from '../accounting/index.ts'
import {
  type AdminRequest,
  type AdminRoutes,
  configRoutes,
  groupRoutes,
  keyRoutes,
  LockedProviderKeyError,
  openProviderKeys,
  providerKeyRoutes,
  requireMasterKey,
  usageRoutes,
  webhookRoutes,
} from '../admin/index.ts'
import {
  checkMasterKey,
  KeyRing,
  type MasterKey,
  MasterKeyError,
  MasterKeyMismatchError,
  openMasterKey,
} from '../auth/index.ts'
import type { Config, ConfigDocument } from '../config/index.ts'
import { type Authenticator, noAuth } from '../core/admission.ts'
import { GatewayError } from '../core/errors.ts'
import type { NanoUsd } from '../core/ids.ts'
import type { Meters } from '../core/metrics.ts'
import { usdOf } from '../core/money.ts'
import type { RequestOrigin } from '../core/origin.ts'
import type { Clock, Environment, Fingerprint, Log, UpstreamPort } from '../core/ports.ts'
import type { RecordSink } from '../core/request-record.ts'
import { ConfigError, StartError } from '../core/start-error.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import { auditLog, loginLog, type RefusalLog } from '../records/index.ts'
import {
  type AccountRows,
  databaseInUse,
  type OpenStore,
  type Store,
  StoreFault,
} from '../store/index.ts'
import {
  findUnsignedError,
  openWebhooks,
  UnsignedWebhooksError,
  unsigned,
  type Webhooks,
} from '../webhooks/index.ts'
import type { Intake } from '../wire/intake.ts'

/** Who may use the gateway, and what that costs them. */
export interface AccessControl {
  readonly gatekeeper: Authenticator
  /** Keeps account of finished requests. */
  readonly record: RecordSink
  /** Keys of providers that were stored at run time. Rejects when they cannot be read. */
  providerKeys(): Promise<ReadonlyMap<string, string>>
  /** Throws when a configuration that is valid by itself does not fit what is stored. */
  check(config: Config): void
  /** Takes over what a configuration says, and the keys that were made offline. */
  adopt(config: Config): Promise<void>
  routes(plane: ConfigPlane): AdminRoutes
  /** Writes out what is not yet in the database. Resolves to what could not be saved. */
  close(): Promise<Unsaved>
  /** What the database cannot do at once, it no longer does. */
  abandon(): void
}

/** The configuration that serves, for the routes that show it and change it. */
export interface ConfigPlane {
  readonly document: ConfigDocument
  readonly bodyLimit: () => number
  readonly intake: Intake
  readonly providers: () => Iterable<string>
  /** Puts the keys in force that are stored now. */
  readonly takeKeys: () => Promise<void>
}

const allSaved: Unsaved = Object.freeze({ rows: 0, spend: 0n as NanoUsd })

/** Without auth: an open proxy without a database and without admin routes. */
const openAccessControl: AccessControl = {
  gatekeeper: noAuth,
  record() {},
  providerKeys: async () => new Map(),
  check() {},
  async adopt() {},
  routes: () => ({}),
  close: async () => allSaved,
  abandon() {},
}

export interface AccessOptions {
  readonly config: Config
  /** Absent where the host has no database. */
  readonly openStore: OpenStore | undefined
  /** Another gateway may work on the database. */
  readonly allowSecond: boolean
  readonly fingerprint: Fingerprint | undefined
  readonly env: Environment
  readonly clock: Clock
  readonly log: Log
  readonly upstream: UpstreamPort
  readonly random: () => number
  readonly meters: Meters
  /** Rows of the usage log were dropped. */
  readonly dropped: (rows: number) => void
}

/** Access with what the first snapshot needs of it: read here, where a failure ends the start. */
export interface OpenedAccess {
  readonly access: AccessControl
  readonly storedKeys: ReadonlyMap<string, string>
}

/** Opens what the configuration asks for. Rejects with a `ConfigError` or a `StartError`. */
export async function openAccess(options: AccessOptions): Promise<OpenedAccess> {
  const { config, env, log, openStore } = options
  if (!config.auth.enabled) return { access: openAccessControl, storedKeys: new Map() }
  if (!openStore) throw new ConfigError(['auth.enabled: this host has no database'])
  try {
    const master = await openMasterKey(env['GATEWAY_MASTER_KEY'])
    const store = await openStore({
      path: config.auth.db_path,
      token: env['GATEWAY_DB_AUTH_TOKEN'],
      claim: options.allowSecond ? 'shared' : 'sole',
      report: (message, fields) => log.write('error', message, fields),
    })
    return await keyedAccess({ ...options, master, store }).catch(async (error: unknown) => {
      await store.close()
      throw error
    })
  } catch (error) {
    throw bootError(error)
  }
}

/** What keeps a gateway from starting in this environment, apart from the database. */
export async function startProblems(
  { auth, webhooks }: Config,
  env: Environment,
): Promise<readonly string[]> {
  if (!auth.enabled) return []
  const noMaster = await openMasterKey(env['GATEWAY_MASTER_KEY']).then(
    () => undefined,
    (error: unknown) => error,
  )
  const found = [noMaster, findUnsignedError(webhooks, { env, stored: unsigned })].map(bootError)
  return found.flatMap((error) => (error instanceof ConfigError ? error.problems : []))
}

interface KeyedOptions extends Omit<AccessOptions, 'openStore'> {
  readonly store: Store
  readonly master: MasterKey
}

async function keyedAccess(options: KeyedOptions): Promise<OpenedAccess> {
  const { config, store, master, clock, log } = options
  await checkMasterKey(store, { sealer: master.sealer, clock })
  const webhooks = await openWebhooks({ ...options, sealer: master.sealer }, config.webhooks)
  const storedKeys = await openProviderKeys(store, master.sealer)
  const rows = await store.readAccounts()
  log.write('info', 'keys are required', { keys: rows.keys.length, groups: rows.groups.length })
  // Last, since from here on there are timers.
  return { access: new KeyAccessControl(options, { webhooks, rows }), storedKeys }
}

/** What an operator can do something about, in the words of whoever has found it. */
function bootError(error: unknown): unknown {
  if (error instanceof MasterKeyError) return new ConfigError([error.message])
  if (error instanceof UnsignedWebhooksError) {
    return new ConfigError([`${error.setting}: ${error.message}`])
  }
  const reason = reasonOf(error)
  if (reason === undefined) return error
  const isInUse = error instanceof StoreFault && error.code === databaseInUse
  return new StartError(isInUse ? `${reason}; ${wayOut}` : reason)
}

const wayOut =
  'stop it first, or let both grant whole budgets with --allow-second (allowSecond in code)'

/** Why the database or what is in it cannot be used, for an operator; undefined of any other error. */
export function reasonOf(error: unknown): string | undefined {
  const isKnown =
    error instanceof StoreFault ||
    error instanceof MasterKeyMismatchError ||
    error instanceof LockedProviderKeyError
  return isKnown ? error.message : undefined
}

/** A request needs the database and cannot have it: LM-5003. Only the operator makes such requests. */
export function unavailable(fault: StoreFault): GatewayError {
  return new GatewayError('LM-5003', `${fault.message}; try again`, { retryAfter: 1_000 })
}

interface Stored {
  readonly webhooks: Webhooks
  readonly rows: AccountRows
}

class KeyAccessControl implements AccessControl {
  readonly gatekeeper: Authenticator
  readonly record: RecordSink
  readonly #options: KeyedOptions
  readonly #webhooks: Webhooks
  readonly #accounts: KeyRegistry
  readonly #logins: RefusalLog
  readonly #ring: KeyRing<KeyEntry>
  readonly #ledger: SpendFlusher
  readonly #retention: Retention
  #reserveOutputTokens: number

  constructor(options: KeyedOptions, { webhooks, rows }: Stored) {
    const { config, store, clock, log, dropped } = options
    const { auth } = config
    this.#options = options
    this.#webhooks = webhooks
    this.#reserveOutputTokens = auth.reserve_output_tokens
    this.#logins = loginLog({ log, clock })
    this.#ring = new KeyRing(options.fingerprint)
    this.#accounts = new KeyRegistry({
      clock,
      observer: new BudgetAlerts({
        clock,
        percentages: webhooks.percentages,
        notify: webhooks.notify,
      }),
      reserveOutputTokens: () => this.#reserveOutputTokens,
    })
    const usageLog = new UsageLog({
      store,
      clock,
      log,
      capacity: auth.usage_channel_capacity,
      batchMax: auth.usage_batch_max,
      flushAfter: auth.usage_flush_ms,
      dropped: (row) => {
        this.#ledger.addDropped(row)
        dropped(1)
      },
    })
    this.#ledger = new SpendFlusher({
      store,
      clock,
      log,
      interval: auth.flush_interval_ms,
      usageLog,
    })
    this.#retention = new Retention({ store, clock, log, days: auth.retention_days })
    this.record = usageLogSink(usageLog, clock)
    this.gatekeeper = {
      authenticate: (request, origin) =>
        this.#accounts.createPrincipal(this.#keyOf(request, origin)),
    }
    this.#take(rows)
  }

  providerKeys(): Promise<ReadonlyMap<string, string>> {
    return openProviderKeys(this.#options.store, this.#options.master.sealer)
  }

  check(config: Config): void {
    this.#webhooks.check(config.webhooks)
  }

  async adopt(config: Config): Promise<void> {
    const { auth } = config
    await this.#reloadAccounts()
    this.#webhooks.reload(config.webhooks)
    this.#ledger.setInterval(auth.flush_interval_ms)
    this.#retention.setDays(auth.retention_days)
    this.#reserveOutputTokens = auth.reserve_output_tokens
  }

  routes({ document, providers, takeKeys, ...bodies }: ConfigPlane): AdminRoutes {
    const { store, clock, log, master } = this.#options
    const accounts = this.#accounts
    const flush = () => this.#ledger.flush()
    const reading = { clock, ...bodies, audit: auditLog(log) }
    const routes = {
      ...keyRoutes({
        ...reading,
        store,
        accounts,
        flush,
        ring: this.#ring,
        notify: this.#webhooks.notify,
      }),
      ...groupRoutes({ ...reading, store, accounts, flush }),
      ...usageRoutes({ store, clock }),
      ...configRoutes({ ...reading, document }),
      ...providerKeyRoutes({
        ...reading,
        store,
        providers,
        sealer: master.sealer,
        reload: takeKeys,
      }),
      ...webhookRoutes({ ...reading, webhooks: this.#webhooks }),
    }
    const refused = ({ request, context }: AdminRequest) =>
      this.#logins.add({ request, origin: context, status: 401 })
    return requireMasterKey(routes, { master, refused })
  }

  async close(): Promise<Unsaved> {
    const { store, log, dropped } = this.#options
    this.#logins.close()
    this.#webhooks.close()
    this.#retention.close()
    const unsaved = await this.#ledger.close()
    await store.close()
    if (unsaved.rows > 0 || unsaved.spend > 0n) {
      const { rows, spend } = unsaved
      dropped(rows)
      log.write('error', 'usage is lost, it could not be saved', { rows, spend_usd: usdOf(spend) })
    }
    return unsaved
  }

  abandon(): void {
    this.#options.store.abandon()
  }

  #keyOf(request: Request, origin: RequestOrigin): KeyEntry {
    try {
      return this.#ring.authenticate(request.headers, unixSeconds(this.#options.clock))
    } catch (error) {
      this.#logins.add({ request, origin, status: 401 })
      throw error
    }
  }

  async #reloadAccounts(): Promise<void> {
    const { store } = this.#options
    // A change that is made while the rows are on their way is newer than they are.
    let seen: number
    let rows: AccountRows
    do {
      seen = this.#accounts.changes
      rows = await store.readAccounts()
    } while (seen !== this.#accounts.changes)
    this.#take(rows)
  }

  #take(rows: AccountRows): void {
    this.#accounts.load(rows)
    for (const { id, digest } of rows.keys) {
      const key = this.#accounts.getKey(id)
      if (key) this.#ring.put(digest, key)
    }
  }
}
