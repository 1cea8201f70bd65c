import {
  createRecovery,
  JournalWriter,
  nameProcess,
  noRowJournal,
  pendingUsageSink,
  RefusedRequests,
  Retention,
  SpendFlusher,
  UsageLog,
  type UsageLogOptions,
  usageLogSink,
} from '../accounting/index.ts'
import { openProviderKeys, ownKeyRoutes } from '../admin/index.ts'
import type { MasterKey } from '../auth/index.ts'
import type { Config, Problem } from '../config/index.ts'
import { toUsd } from '../core/money.ts'
import { RecentRequests } from '../records/index.ts'
import type { AccountRows, ChangeCounts, Store } from '../store/index.ts'
import { UnsignedWebhooksError, type Webhooks } from '../webhooks/index.ts'
import type { AccessControl, AccessOptions } from './access-control.ts'
import { createAdminRoutes } from './admin-routes.ts'
import { ChangeFollower } from './change-follower.ts'
import { createKeyAccounts, type KeyAccounts } from './key-accounts.ts'

export interface KeyedAccessOptions extends Omit<AccessOptions, 'openStore'> {
  readonly store: Store
  readonly master: MasterKey
  readonly webhooks: Webhooks
  /** The keys and groups of the database. */
  readonly rows: AccountRows
  /** The same before the usage of a killed process was saved; undefined where none was found. */
  readonly before: AccountRows | undefined
  /** The changes that the rows and the webhooks contain. */
  readonly known: ChangeCounts
}

/** Access control with auth on. */
export function createKeyedAccess(options: KeyedAccessOptions): AccessControl {
  const { store, master, webhooks, clock, log, fingerprint, events } = options
  let { auth } = options.config
  const sharing = shareAccounts(options)
  const { rowJournal, usageLog, flusher } = openUsageLog(options, {
    process: sharing?.process,
    refund: (row, charge) => accounts.refund(row, charge),
  })
  const accounts: KeyAccounts = createKeyAccounts({
    store,
    clock,
    log,
    fingerprint,
    webhooks,
    reserveOutputTokens: () => auth.reserve_output_tokens,
    shared: sharing && { ...sharing, rowJournal, addRow: (row) => usageLog.add(row) },
  })
  accounts.load(options.rows, options.before)
  accounts.start()
  const refused = new RefusedRequests({
    store,
    clock,
    log,
    findGroup: (key) => accounts.registry.getKey(key)?.record.groupId ?? null,
  })
  const addRow = usageLogSink(usageLog, { clock, refused: (record) => refused.add(record) })
  const recordPendingRow = pendingUsageSink(usageLog, clock)
  const recent = new RecentRequests(clock)
  /** Nothing waits between the end of a stream and its last bytes. */
  const endStream = () => {
    rowJournal.write()
    // After the rows: the server knows no charge whose row a killed process would forget.
    accounts.sendEnds()
  }
  let follower: ChangeFollower | undefined
  const retention = new Retention({ store, clock, log, days: auth.retention_days })

  return Object.freeze<AccessControl>({
    authenticator: accounts,
    budgets: () => [...accounts.registry.listGroups(), ...accounts.registry.listKeys()],
    record(record) {
      addRow(record)
      if (record.stream) endStream()
      recent.add(record)
    },
    recordPending(record) {
      const addFinal = recordPendingRow(record)
      if (record.stream) endStream()
      return (final) => {
        addFinal(final)
        recent.add(final)
      }
    },
    get reported() {
      const { durable } = rowJournal
      if (!sharing) return durable
      if (durable) return durable.then(accounts.sendEnds)
      accounts.sendEnds()
      return undefined
    },
    check: ({ webhooks: block }) => webhooksProblem(webhooks, block),
    providerKeys: () => openProviderKeys(store, master.sealer),
    async adopt(config) {
      await accounts.reload()
      webhooks.reload(config.webhooks)
      auth = config.auth
      flusher.setInterval(auth.flush_interval_ms)
      retention.setDays(auth.retention_days)
    },
    adminRoutes: (deps) =>
      createAdminRoutes(
        { store, clock, log, master, webhooks, accounts, flusher, refused, recent },
        deps,
      ),
    ownKeyRoutes: () =>
      ownKeyRoutes({
        store,
        clock,
        accounts: accounts.registry,
        identify: accounts.identify,
        showsGroup: () => auth.show_group,
      }),
    followChanges({ refreshProviderKeys }) {
      const { shared, known } = options
      if (!shared) return
      follower = new ChangeFollower({
        store,
        shared,
        clock,
        log,
        known,
        apply: {
          accounts: (since) => accounts.reload(since),
          'provider-keys': refreshProviderKeys,
          webhooks: () => webhooks.refresh(),
        },
      })
    },
    async close() {
      follower?.close()
      await accounts.close()
      accounts.refusedLogins.close()
      webhooks.close()
      retention.close()
      const [unsaved] = await Promise.all([flusher.close(), refused.close()])
      store.journal?.close()
      await store.close()
      const { rows, spend } = unsaved
      if (rows > 0 || spend > 0n) {
        events.usageDropped(rows)
        log.write('error', 'usage is lost because it could not be saved', {
          rows,
          spend_usd: toUsd(spend),
        })
      }
      return unsaved
    },
    abandon: () => store.abandon(),
  })
}

/** How this process shares its accounts with others, under an id for its life; undefined where it does not. */
function shareAccounts({ config, shared: state, store, log }: KeyedAccessOptions) {
  if (!state || !config.shared) return undefined
  const { on_loss: onLoss, on_lost_hold: onLostHold, lease_ms: lease } = config.shared
  const { journal } = store
  const process = nameProcess(journal)
  const recover = createRecovery({ journal, store, log })
  return { state, process, onLoss, onLostHold, lease, recover }
}

function openUsageLog(
  options: KeyedAccessOptions,
  { process, refund }: Pick<UsageLogOptions, 'process' | 'refund'>,
) {
  const { config, store, clock, log, events } = options
  const { auth } = config
  const { journal } = store
  const failed = (rows: number) => events.usageUnjournaled(rows)
  const rowJournal = journal ? new JournalWriter({ journal, clock, log, failed }) : noRowJournal
  const usageLog = new UsageLog({
    store,
    rowJournal,
    process,
    clock,
    log,
    capacity: auth.usage_channel_capacity,
    batchMax: auth.usage_batch_max,
    flushAfter: auth.usage_flush_ms,
    dropped(row) {
      flusher.addDropped(row)
      events.usageDropped(1)
    },
    refund,
  })
  const interval = auth.flush_interval_ms
  const flusher = new SpendFlusher({ store, rowJournal, process, clock, log, interval, usageLog })
  return { rowJournal, usageLog, flusher }
}

/** The stored settings may replace those of the file, so the webhooks themselves decide. */
function webhooksProblem(webhooks: Webhooks, block: Config['webhooks']): Problem | undefined {
  try {
    webhooks.check(block)
    return undefined
  } catch (error) {
    if (!(error instanceof UnsignedWebhooksError)) throw error
    return { setting: error.setting, message: error.message }
  }
}
