import type { BudgetGroup } from '../core/accounts.ts'
import type { AuditAction, AuditEntry } from '../core/audit.ts'
import type { GroupId, KeyId, NanoUsd, UnixSeconds } from '../core/ids.ts'
import type { SharedStateName } from '../core/shared-state.ts'
import type {
  AccountRows,
  GrantError,
  GroupChange,
  GroupRow,
  KeyChange,
  KeyRow,
  NewKey,
  Rotation,
} from './account-rows.ts'
import type { Journal } from './journal.ts'
import type { RefusedBatch, RequestListQuery, RequestPage } from './request-queries.ts'
import type { ProcessShare, SpendFlush, SubjectSpend } from './spend-rows.ts'
import type { UsageRow } from './usage-columns.ts'
import type {
  LostCharge,
  LostLookup,
  RepricedRow,
  UsageBatch,
  UsageFindings,
  UsageFindQuery,
  UsageIntervalQuery,
  UsageIntervalSum,
  UsageListQuery,
  UsageSum,
  UsageSumQuery,
} from './usage-queries.ts'

/**
 * The interface of the database: rows in, rows out. Each call is one transaction, calls run in the
 * order in which they are made, and each resolves when its change is durable. A call rejects with a
 * `StoreFault` when the database cannot be used; the caller may repeat it.
 */
export interface Store {
  /** Undefined where usage rows cannot be kept outside of the process. */
  readonly journal: Journal | undefined
  /** The id of the claim that this gateway holds with all that share its state; undefined when it holds none. */
  readonly claimId?: string | undefined

  /**
   * Reads every key and group, tombstones included, in order of creation; with `since`, a count of
   * `readChanges`, only those that have changed after it.
   */
  readAccounts(since?: number): Promise<AccountRows>

  /** Reads how often each topic has changed, no matter by which process. */
  readChanges(): Promise<ChangeCounts>

  createKey(key: NewKey): Promise<KeyRow | 'unknown-group'>
  updateKey(id: KeyId, change: KeyChange): Promise<KeyRow | 'unknown-key' | 'unknown-group'>
  /** Replaces the secret. */
  rotateKey(id: KeyId, rotation: Rotation): Promise<KeyRow | 'unknown-key'>
  /** Revokes a key. `at`: unix seconds. */
  deleteKey(id: KeyId, at: number): Promise<KeyRow | 'unknown-key'>
  /** Adds to the cap. */
  grantKey(id: KeyId, amount: NanoUsd): Promise<KeyRow | 'unknown-key' | GrantError>

  createGroup(group: BudgetGroup): Promise<GroupRow>
  updateGroup(id: GroupId, change: GroupChange): Promise<GroupRow | 'unknown-group'>
  /** Deletes a group, unless it still has keys that are not deleted. */
  deleteGroup(id: GroupId, at: number): Promise<GroupRow | 'unknown-group' | 'has-members'>
  grantGroup(id: GroupId, amount: NanoUsd): Promise<GroupRow | 'unknown-group' | GrantError>

  /**
   * Adds spend without a usage row to keys and groups, tombstones included. A flush is written
   * once, no matter how often it is sent.
   */
  addSpend(flush: SpendFlush): Promise<void>

  /**
   * Appends rows to the usage log and adds their cost to the spend of their keys and groups, in one
   * transaction. A batch is written once, no matter how often it is sent. Resolves to what was charged
   * for lost requests among those of the rows and is not taken back; to nothing for a batch without a
   * process.
   */
  addUsage(batch: UsageBatch): Promise<readonly LostCharge[]>
  /**
   * Does the same with the row of a lost request, unless the usage log has got a row of that request
   * since `findUsage`. Resolves to whether the batch is written.
   */
  addLostUsage(batch: UsageBatch, lookup: LostLookup): Promise<boolean>
  /** Reads the spend of keys and groups in one transaction. Unknown ids are left out. */
  readSpend(ids: readonly string[]): Promise<readonly SubjectSpend[]>
  /** Lists the processes with a shared state that have a part in the saved spend. */
  listProcesses(): Promise<readonly string[]>
  /** Reads the part of one process in the saved spend of every key and group. */
  readShares(process: string): Promise<readonly ProcessShare[]>
  /** Forgets which part of the saved spend was that of a process. The spend remains. */
  forgetProcess(process: string): Promise<void>
  /** Finds those of these requests that have a row. */
  findUsage(query: UsageFindQuery): Promise<UsageFindings>
  /** Deletes up to `limit` rows from before `before`, unix seconds. Resolves to their number. */
  purgeUsage(before: number, limit: number): Promise<number>
  /** Returns sums by group, the highest cost first. */
  sumUsage(query: UsageSumQuery): Promise<readonly UsageSum[]>
  /** Returns sums by group and interval, in the order of time; none for an interval without rows. */
  sumUsageByInterval(query: UsageIntervalQuery): Promise<readonly UsageIntervalSum[]>
  /** Reads the texts of prices that rows name, by their ids. Those that are not known are left out. */
  readPrices(ids: readonly string[]): Promise<ReadonlyMap<string, string>>
  /** Keeps in rows what they cost at later prices. */
  writeRepriced(rows: readonly RepricedRow[]): Promise<void>
  /** Returns rows by increasing id. */
  listUsage(query: UsageListQuery): Promise<readonly UsageRow[]>

  /**
   * Appends refused requests, and deletes the oldest beyond the number that is kept. A batch is written once, no
   * matter how often it is sent.
   */
  addRefused(batch: RefusedBatch): Promise<void>
  /** Deletes up to `limit` refused requests from before `before`, unix seconds. Resolves to their number. */
  purgeRefused(before: number, limit: number): Promise<number>
  /** Returns a page of the rows of the usage log and of the refused requests together. */
  listRequests(query: RequestListQuery): Promise<RequestPage>

  /** Reads the sealed values of a purpose, ordered by name. */
  readSealed(purpose: SealedPurpose): Promise<readonly SealedRow[]>
  /** Creates or replaces a sealed value. */
  putSealed(row: SealedRow): Promise<void>
  /** Replaces existing sealed values, all of them in one transaction. */
  replaceSealed(rows: readonly SealedRow[]): Promise<void>
  /** Resolves to whether there was such a value. */
  deleteSealed(purpose: SealedPurpose, name: string): Promise<boolean>

  /** Reads the webhook settings that were set at run time; undefined when none were. */
  readWebhookSettings(): Promise<WebhookRow | undefined>
  putWebhookSettings(row: WebhookRow): Promise<void>

  /**
   * Returns the writes of this store with an audit row: each writes the entry in its own
   * transaction, if it changes something.
   */
  audited(entry: AuditEntry): AuditedStore
  /** Appends an entry to the audit log, for a change outside the database. */
  addAudit(entry: AuditEntry): Promise<void>
  /** Deletes up to `limit` audit rows from before `before`, unix seconds. Resolves to their number. */
  purgeAudit(before: number, limit: number): Promise<number>
  /** Returns audit rows by increasing id. */
  listAudit(query: AuditQuery): Promise<readonly AuditRow[]>

  /**
   * Makes all waiting calls fail, and later ones that cannot run at once. For a process that must
   * exit now.
   */
  abandon(): void
  /** Waits for running calls and releases the database. */
  close(): Promise<void>
}

export type StoreMethod = Exclude<
  keyof Store,
  'journal' | 'claimId' | 'audited' | 'abandon' | 'close'
>

/**
 * The methods that call the database. Both ends of the database's thread are built from this list.
 */
export const storeMethods = Object.keys({
  readAccounts: true,
  readChanges: true,
  createKey: true,
  updateKey: true,
  rotateKey: true,
  deleteKey: true,
  grantKey: true,
  createGroup: true,
  updateGroup: true,
  deleteGroup: true,
  grantGroup: true,
  addSpend: true,
  addUsage: true,
  addLostUsage: true,
  readSpend: true,
  listProcesses: true,
  readShares: true,
  forgetProcess: true,
  findUsage: true,
  purgeUsage: true,
  sumUsage: true,
  sumUsageByInterval: true,
  readPrices: true,
  writeRepriced: true,
  listUsage: true,
  addRefused: true,
  purgeRefused: true,
  listRequests: true,
  readSealed: true,
  putSealed: true,
  replaceSealed: true,
  deleteSealed: true,
  readWebhookSettings: true,
  putWebhookSettings: true,
  addAudit: true,
  purgeAudit: true,
  listAudit: true,
} satisfies Record<StoreMethod, true>) as readonly StoreMethod[]

/** The writes that can have an audit row. */
export const auditedMethods = [
  'createKey',
  'updateKey',
  'rotateKey',
  'deleteKey',
  'grantKey',
  'createGroup',
  'updateGroup',
  'deleteGroup',
  'grantGroup',
  'putSealed',
  'replaceSealed',
  'deleteSealed',
  'putWebhookSettings',
] as const satisfies readonly StoreMethod[]

export type AuditedStore = Pick<Store, (typeof auditedMethods)[number]>

/**
 * Opens the database; creates or migrates it. Rejects with a `StoreFault` that says why it cannot.
 */
export type OpenStore = (settings: StoreSettings) => Promise<Store>

/** The code of a `StoreFault`: another gateway uses the database. */
export const databaseInUse = 'DATABASE_IN_USE'

/** The same, where both gateways share their state, by another name of it or another state. */
export const databaseShared = 'DATABASE_SHARED'

/** The code of a `StoreFault`: there is no database, and `onMissing` forbids to create one. */
export const databaseMissing = 'DATABASE_MISSING'

export interface StoreSettings {
  /** A file path, or the address of a libSQL server. */
  readonly path: string
  /** The auth token for a libSQL server. */
  readonly token: string | undefined
  /** Where a gateway keeps the journal of a database on a server; absent: nowhere. */
  readonly journalFolder?: string | undefined
  /** Absent for a command. */
  readonly claim?: StoreClaim | undefined
  /**
   * What to do when the file is absent, or is not the database of a gateway: to create the tables (the
   * default), or to reject with `DATABASE_MISSING` and leave no file behind.
   */
  readonly onMissing?: 'create' | 'reject' | undefined
  /** Called with events for the operator, such as a file that was deleted while in use. */
  readonly report?: StoreReport | undefined
}

/** Takes an event for the log of the gateway; `level` is `error` when absent. */
export type StoreReport = (
  message: string,
  fields: Readonly<Record<string, unknown>>,
  level?: 'warn' | 'error',
) => void

/** The claim of a gateway on its database: others may use it only when all of them share their state. */
export interface StoreClaim {
  /** Names the state that the gateway shares with others; undefined when it counts alone. */
  readonly sharing?: SharedStateName | undefined
  /**
   * The ids of claims whose gateways were met on that state: gateways that hold such a claim share it, although
   * they have another name for it.
   */
  readonly met?: readonly string[] | undefined
  /**
   * While other gateways use the database that do not share this state, opening rejects with
   * `DATABASE_IN_USE` or `DATABASE_SHARED`, or reports it.
   */
  readonly onConflict: 'reject' | 'report'
}

/** The database cannot be used. The message contains no row and no secret. */
export class StoreFault extends Error {
  override readonly name = 'StoreFault'
  /** The code of the driver, the system or the server, such as `SQLITE_BUSY`. */
  readonly code: string | undefined

  constructor(message: string, code?: string) {
    super(message)
    this.code = code
  }
}

/**
 * The stored settings that a process keeps in memory: keys and groups, the keys of providers, and webhooks
 * with their signing key.
 */
export const changeTopics = ['accounts', 'provider-keys', 'webhooks'] as const
export type ChangeTopic = (typeof changeTopics)[number]
export type ChangeCounts = Readonly<Record<ChangeTopic, number>>

export interface AuditQuery extends Pick<UsageListQuery, 'since' | 'until' | 'cursor' | 'limit'> {
  readonly action?: AuditAction | undefined
  readonly subjectId?: string | undefined
}

/** A row of the audit log. Ids increase. */
export interface AuditRow extends AuditEntry {
  readonly id: number
}

/**
 * `canary` is the value that `checkMasterKey` seals. The purposes are part of the stored format.
 */
export const sealedPurposes = ['provider-key', 'webhook-signing-key', 'canary'] as const
export type SealedPurpose = (typeof sealedPurposes)[number]

export interface SealedRow {
  readonly purpose: SealedPurpose
  readonly name: string
  /** The sealed value as text. */
  readonly sealed: string
  readonly updatedAt: UnixSeconds
}

export interface WebhookRow {
  readonly enabled: boolean
  /** The settings document, JSON. */
  readonly settings: string
  readonly updatedAt: UnixSeconds
}
