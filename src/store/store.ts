import type { AccountLimits, BudgetGroup, BudgetScope, VirtualKey } from '../core/accounts.ts'
import type { AuditAction, AuditEntry } from '../core/audit.ts'
import type { BudgetPeriod, BudgetTerm } from '../core/budget-period.ts'
import type { Api, Capability } from '../core/capability.ts'
import type { GroupId, KeyId, NanoUsd, UnixSeconds } from '../core/ids.ts'
import type { Journal } from './journal.ts'
import type { NewUsageRow, UsageRow, UsageValue } from './usage-columns.ts'
import type { UsageInterval } from './usage-interval.ts'

/**
 * The interface of the database: rows in, rows out. Each call is one transaction, calls run in the
 * order in which they are made, and each resolves when its change is durable. A call rejects with a
 * `StoreFault` when the database cannot be used; the caller may repeat it.
 */
export interface Store {
  /** Undefined where usage rows cannot be kept outside of the process. */
  readonly journal: Journal | undefined

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
  /** Returns rows by increasing id. */
  listUsage(query: UsageListQuery): Promise<readonly UsageRow[]>

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

export type StoreMethod = Exclude<keyof Store, 'journal' | 'audited' | 'abandon' | 'close'>

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
  listUsage: true,
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

export interface StoreSettings {
  /** A file path, or the address of a libSQL server. */
  readonly path: string
  /** The auth token for a libSQL server. */
  readonly token: string | undefined
  /** Where a gateway keeps the journal of a database on a server; absent: nowhere. */
  readonly journalFolder?: string | undefined
  /** Absent for a command. */
  readonly claim?: StoreClaim | undefined
  /** Called with events for the operator, such as a file that was deleted while in use. */
  readonly report?:
    | ((message: string, fields: Readonly<Record<string, unknown>>) => void)
    | undefined
}

/** The claim of a gateway on its database: others may use it only when all of them share their state. */
export interface StoreClaim {
  /** Names the state that the gateway shares with others; undefined when it counts alone. */
  readonly sharing?: string | undefined
  /**
   * While other gateways use the database that do not share this state, opening rejects with
   * `DATABASE_IN_USE`, or reports it.
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

export interface AccountRows {
  readonly keys: readonly KeyRow[]
  readonly groups: readonly GroupRow[]
}

/**
 * The stored settings that a process keeps in memory: keys and groups, the keys of providers, and webhooks
 * with their signing key.
 */
export const changeTopics = ['accounts', 'provider-keys', 'webhooks'] as const
export type ChangeTopic = (typeof changeTopics)[number]
export type ChangeCounts = Readonly<Record<ChangeTopic, number>>

/** A new key. Its secret is never stored, only the digest. */
export interface NewKey extends Omit<VirtualKey, 'deletedAt' | 'graceEndsAt'> {
  /** The BLAKE3 digest of the whole secret, 64 lowercase hex digits. */
  readonly digest: string
}

/** The saved spend of a key or a group. */
export interface SavedSpend {
  /** The spend of the term. */
  readonly budgetSpent: NanoUsd
  readonly spentTotal: NanoUsd
  /** The term of the latest charge that was saved; it may be over. */
  readonly term: BudgetTerm
}

export interface KeyRow extends VirtualKey, SavedSpend {
  readonly digest: string
  /** The digest from before the last rotation; null when that one had no grace period. */
  readonly formerDigest: string | null
}

/** The saved spend of a key or a group, and what each process with a shared state has charged of it. */
export interface SubjectSpend extends SavedSpend {
  readonly id: string
  readonly shares: readonly SpendShare[]
}

/** What one process has charged to a key or a group, and saved. */
export interface SpendShare extends SavedShare {
  readonly process: string
}

/** The same, of a known process. */
export interface ProcessShare extends SavedShare {
  /** The id of the key or the group. */
  readonly subject: string
}

interface SavedShare {
  /** When the latest term that it has charged began. */
  readonly since: UnixSeconds
  /** Charged to that term. */
  readonly amount: NanoUsd
  readonly total: NanoUsd
}

/** A new secret, and when the former one stops working; null: at once. */
export interface Rotation {
  readonly digest: string
  readonly graceEndsAt: UnixSeconds | null
}

export interface GroupRow extends BudgetGroup, SavedSpend {}

/** A new period. The budget keeps what is spent until the end of the period that contains `at`. */
export interface PeriodChange {
  readonly period: BudgetPeriod | null
  readonly at: UnixSeconds
}

interface LimitChange extends Omit<AccountLimits, 'budgetPeriod'> {
  readonly budgetPeriod: PeriodChange
}

/** The members to change; absent members stay as they are. */
export type KeyChange = Partial<
  LimitChange & Pick<VirtualKey, 'name' | 'groupId' | 'expiresAt' | 'disabled'>
>

export type GroupChange = Partial<LimitChange & Pick<BudgetGroup, 'name'>>

/** `no-cap`: there is no cap to add to. `too-much`: the cap would exceed the maximum budget. */
export type GrantError = 'no-cap' | 'too-much'

export interface SpendFlush {
  /** Random; the same when the flush is sent again. */
  readonly id: string
  /** The process with a shared state that has charged it. */
  readonly process?: string | undefined
  readonly additions: readonly SpendAddition[]
}

export interface SpendAddition {
  readonly scope: BudgetScope
  readonly id: string
  /** Negative when an exact count is below its estimate. */
  readonly amount: NanoUsd
  /** The latest term that is charged; by default the first one. */
  readonly term?: BudgetTerm
  /** The part of `amount` that is charged to this term; by default all of it. */
  readonly termAmount?: NanoUsd
}

/** Additions in the form for SQL: by scope a JSON array with one array per id, as `addTo` reads it. */
export type SpendText = Readonly<Record<BudgetScope, string>>

/** Rows that are written together. They are stored by column. */
export interface UsageBatch {
  /** Random; the same when the batch is sent again. */
  readonly id: string
  /** The number of rows. */
  readonly length: number
  /** Returns the rows as objects. */
  rows(): NewUsageRow[]
  /** Returns the rows in the form for SQL. */
  text(): UsageText
}

/** A batch in the form for SQL. Columns that are equal in all rows, usually most, are sent once. */
export interface UsageText {
  /** The id of the batch. */
  readonly id: string
  /** The process with a shared state that has charged the rows. */
  readonly process?: string | undefined
  /** The first row, in the order of `usageColumns`. */
  readonly first: readonly UsageValue[]
  /** The indexes of the columns in which the rows differ. */
  readonly varying: readonly number[]
  /** A JSON array with one array per row: the values of those columns. */
  readonly rows: string
  /** The cost of the rows, by key and by group. */
  readonly spend: SpendText
}

/** How a request is found in the usage log. */
export interface UsageRequest {
  readonly requestId: string
  readonly keyId: string
}

export interface UsageFindQuery {
  readonly requests: readonly UsageRequest[]
  /** Both inclusive, unix seconds. */
  readonly since: number
  readonly until: number
}

export interface UsageFindings {
  /** The latest id of the usage log before the search; 0 when it is empty. */
  readonly last: number
  readonly requests: readonly FoundRequest[]
}

export interface FoundRequest extends UsageRequest {
  /** It has only rows with LM-6002: other processes have taken its own for dead. */
  readonly isLost: boolean
}

/** What was charged for a request because its process was taken for dead: the sum of its rows with LM-6002. */
export interface LostCharge extends UsageRequest {
  readonly cost: NanoUsd
  /** The latest of these rows. */
  readonly row: number
}

/** A lost request, and the latest id of the usage log when it had no row. */
export interface LostLookup extends UsageRequest {
  readonly last: number
}

export interface UsageFilter {
  /** Both inclusive, unix seconds. */
  readonly since: number
  readonly until: number
  readonly keyId?: string | undefined
  readonly groupId?: string | undefined
  readonly model?: string | undefined
  readonly provider?: string | undefined
  readonly capability?: Capability | undefined
  readonly api?: Api | undefined
}

export const usageGroupings = [
  'model',
  'model_used',
  'provider',
  'capability',
  'api',
  'key_id',
  'group_id',
  'status',
  'total',
] as const
export type UsageGrouping = (typeof usageGroupings)[number]

export interface UsageSumQuery extends UsageFilter {
  readonly groupBy: UsageGrouping
  readonly limit: number
}

/** Sums over the rows of one group. `group` is empty when the column is null. */
export interface UsageSum {
  readonly group: string
  readonly requests: number
  readonly requestsOk: number
  readonly requestsClientError: number
  readonly requestsServerError: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly tokensTotal: number
  readonly estimatedRequests: number
  readonly upstreamRequests: number
  readonly searchUnits: number
  readonly mediaCount: number
  readonly mediaBytes: number
  readonly cost: NanoUsd
}

export interface UsageIntervalQuery extends UsageSumQuery {
  readonly interval: UsageInterval
  /** Only these groups. */
  readonly groups: readonly string[]
}

/** Sums over the rows of one group in one interval. */
export interface UsageIntervalSum
  extends Pick<UsageSum, 'group' | 'requests' | 'tokensIn' | 'tokensOut' | 'cost'> {
  /** The start of the interval in unix seconds, which may be before the window. */
  readonly start: number
}

export interface UsageListQuery {
  /** Both inclusive, unix seconds. */
  readonly since: number
  readonly until: number
  /** Only rows with a greater id. */
  readonly cursor: number
  readonly limit: number
}

export interface AuditQuery extends UsageListQuery {
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
