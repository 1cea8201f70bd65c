import {
  BudgetAlerts,
  BudgetEvents,
  createMemoryLedger,
  type KeyEntry,
  KeyRegistry,
  SharedLedger,
  type SharedLedgerOptions,
} from '../accounting/index.ts'
import { KeyRing, requireActive } from '../auth/index.ts'
import type { Authenticator } from '../core/admission.ts'
import type { KeyId } from '../core/ids.ts'
import type { RequestOrigin } from '../core/origin.ts'
import type { Clock, Fingerprint, Log } from '../core/ports.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import { loginLog, type RefusalLog } from '../records/index.ts'
import type { AccountRows, JournalRow, LostCharge, Store } from '../store/index.ts'
import type { Webhooks } from '../webhooks/index.ts'

/** What the processes that share these accounts need of each other. */
export type SharedAccountsOptions = Pick<
  SharedLedgerOptions,
  'state' | 'process' | 'onLoss' | 'onLostHold' | 'lease' | 'recover' | 'rowJournal' | 'addRow'
>

export interface KeyAccountsOptions {
  readonly store: Pick<Store, 'readAccounts'> & SharedLedgerOptions['store']
  readonly clock: Clock
  readonly log: Log
  readonly fingerprint: Fingerprint | undefined
  readonly webhooks: Pick<Webhooks, 'percentages' | 'notify'>
  /** Output tokens to reserve for a request that sets no limit. */
  readonly reserveOutputTokens: () => number
  /** Undefined where this process alone admits requests. */
  readonly shared?: SharedAccountsOptions | undefined
}

/** The keys and groups in memory, and authentication with them. */
export interface KeyAccounts extends Authenticator {
  readonly ring: KeyRing<KeyEntry>
  readonly registry: KeyRegistry
  /** Logs requests whose key or master key is missing or wrong. */
  readonly refusedLogins: RefusalLog
  /** Returns the key of a request. Throws LM-4004 unless it has a valid one. */
  identify(request: Request, origin: RequestOrigin): KeyEntry
  /** Returns what lets requests in as those of a key; undefined for an unknown or deleted key. */
  readonly findSender: (id: KeyId) => Authenticator | undefined
  /** `before`: the rows before the usage of a killed process was saved. */
  load(rows: AccountRows, before?: AccountRows): void
  /** Joins the other processes; called once, after the first load. */
  start(): void
  /** Loads the rows that other processes may have changed: all of them, or those since a count of changes. */
  reload(since?: number): Promise<void>
  /** Sends other processes the ends of requests that they may be refusing others for. */
  sendEnds(): void
  /** Takes back what another process has charged for the request of a saved row. */
  refund(row: JournalRow, charge: LostCharge): void
  /** Delivers what other processes have to know. */
  close(): Promise<void>
}

export function createKeyAccounts(options: KeyAccountsOptions): KeyAccounts {
  const { store, clock, log, webhooks, reserveOutputTokens } = options
  const refusedLogins = loginLog({ log, clock })
  const ring = new KeyRing<KeyEntry>(options.fingerprint)
  const { percentages, notify } = webhooks
  const events = { clock, percentages, notify }
  const shared =
    options.shared &&
    new SharedLedger({
      ...options.shared,
      store,
      clock,
      log,
      events: new BudgetEvents(events),
      find: (name) => registry.find(name),
    })
  const registry: KeyRegistry = new KeyRegistry({
    ledger: shared ?? createMemoryLedger(clock),
    observer: shared ?? new BudgetAlerts(events),
    reserveOutputTokens,
  })
  const identify = (request: Request, origin: RequestOrigin): KeyEntry => {
    const now = unixSeconds(clock)
    try {
      return ring.authenticate(request, now)
    } catch (error) {
      const why = () => ring.explain(request, now)
      refusedLogins.add({ request, origin, status: 401, why })
      throw error
    }
  }
  const load = (rows: AccountRows, before?: AccountRows): void => {
    registry.load(rows, before)
    putSecrets(rows)
  }
  const putSecrets = (rows: AccountRows): void => {
    for (const row of rows.keys) {
      const key = registry.getKey(row.id)
      if (key) ring.put(row, key)
    }
  }
  return Object.freeze({
    ring,
    registry,
    refusedLogins,
    identify,
    authenticate: (request: Request, origin: RequestOrigin) =>
      registry.createPrincipal(identify(request, origin)),
    findSender(id: KeyId): Authenticator | undefined {
      const key = registry.getKey(id)
      if (!key || key.record.deletedAt !== null) return undefined
      return {
        authenticate() {
          requireActive(key, unixSeconds(clock))
          return registry.createPrincipal(key)
        },
      }
    },
    load,
    start: () => shared?.start(),
    async reload(since?: number) {
      // A key that changes during the query is newer than the rows: query again.
      let changes: number
      let rows: AccountRows
      do {
        changes = registry.changes
        rows = await store.readAccounts(since)
      } while (changes !== registry.changes)
      if (since === undefined) return load(rows)
      registry.update(rows)
      putSecrets(rows)
    },
    sendEnds: () => shared?.sendEnds(),
    refund: (row: JournalRow, charge: LostCharge) => shared?.refund(row, charge),
    async close() {
      await shared?.close()
    },
  })
}
