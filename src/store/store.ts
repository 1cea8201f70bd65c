import type { BudgetGroup, BudgetScope, VirtualKey } from '../core/accounts.ts'
import type { Capability } from '../core/capability.ts'
import type { GroupId, KeyId, NanoUsd } from '../core/ids.ts'
import type { NewUsageRow, UsageRow, UsageValue } from './usage-columns.ts'

/**
 * The database, as everybody else sees it: rows in, rows out. Each call is one transaction, calls
 * are carried out in the order they are made, and the answer comes when the change is durable.
 * A call rejects with a `StoreFault` when the database cannot be used; it may be made again.
 */
export interface Store {
  /** Every key and group, tombstones included, in the order of their creation. */
  readAccounts(): Promise<AccountRows>

  createKey(key: NewKey): Promise<KeyRow | 'unknown-group'>
  updateKey(id: KeyId, change: KeyChange): Promise<KeyRow | 'unknown-key' | 'unknown-group'>
  /** Puts a new secret in the place of the old one. */
  rotateKey(id: KeyId, digest: string): Promise<KeyRow | 'unknown-key'>
  deleteKey(id: KeyId, at: number): Promise<KeyRow | 'unknown-key'>
  /** Adds to the cap. */
  grantKey(id: KeyId, amount: NanoUsd): Promise<KeyRow | 'unknown-key' | GrantError>

  createGroup(group: BudgetGroup): Promise<GroupRow>
  updateGroup(id: GroupId, change: GroupChange): Promise<GroupRow | 'unknown-group'>
  /** Refused while a key that is not deleted is a member. */
  deleteGroup(id: GroupId, at: number): Promise<GroupRow | 'unknown-group' | 'has-members'>
  grantGroup(id: GroupId, amount: NanoUsd): Promise<GroupRow | 'unknown-group' | GrantError>

  /**
   * Adds what no usage row explains to the spend of keys and groups, tombstones included. A flush is
   * written once, however often it is sent.
   */
  addSpend(flush: SpendFlush): Promise<void>

  /**
   * Appends rows of the usage log and adds what they cost to the spend of their keys and groups, in
   * one transaction. A batch is written once, however often it is sent.
   */
  addUsage(batch: UsageBatch): Promise<void>
  /** Deletes at most `limit` rows that are older than `before`, unix seconds; resolves to how many. */
  purgeUsage(before: number, limit: number): Promise<number>
  /** Sums by group, the dearest first. */
  sumUsage(query: UsageSumQuery): Promise<readonly UsageSum[]>
  /** Rows by increasing id. */
  listUsage(query: UsageListQuery): Promise<readonly UsageRow[]>

  /** What is kept sealed for a purpose, by name. */
  readSealed(purpose: SealedPurpose): Promise<readonly SealedRow[]>
  /** Creates or replaces. */
  putSealed(row: SealedRow): Promise<void>
  deleteSealed(purpose: SealedPurpose, name: string): Promise<void>

  /** The webhook settings that were set at run time; undefined when they never were. */
  readWebhookSettings(): Promise<WebhookRow | undefined>
  putWebhookSettings(row: WebhookRow): Promise<void>

  /**
   * From now on calls fail that cannot be carried out at once, those included that wait. For the end
   * of a process that has no more time.
   */
  abandon(): void
  /** Waits for what is under way, and frees everything. */
  close(): Promise<void>
}

export type StoreMethod = Exclude<keyof Store, 'abandon' | 'close'>

/** The methods that call the database. Both ends of the database's thread are built from this list. */
export const storeMethods = Object.keys({
  readAccounts: true,
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
  purgeUsage: true,
  sumUsage: true,
  listUsage: true,
  readSealed: true,
  putSealed: true,
  deleteSealed: true,
  readWebhookSettings: true,
  putWebhookSettings: true,
} satisfies Record<StoreMethod, true>) as readonly StoreMethod[]

/** Opens the database, creates or migrates it. Rejects with a `StoreFault` whose message tells why not. */
export type OpenStore = (settings: StoreSettings) => Promise<Store>

/** The code of a fault: the database has its one gateway already. */
export const databaseInUse = 'DATABASE_IN_USE'

export interface StoreSettings {
  /** A file, or the address of a libSQL server. */
  readonly path: string
  /** Shown to a libSQL server. */
  readonly token: string | undefined
  /**
   * For a gateway, which counts budgets in its own memory. `sole`: rejects with `DATABASE_IN_USE`
   * while another gateway works on the database. `shared`: reports that. Absent for a command.
   */
  readonly claim?: 'sole' | 'shared' | undefined
  /** Told of what an operator should know: the file was deleted or replaced under the process. */
  readonly report?:
    | ((message: string, fields: Readonly<Record<string, unknown>>) => void)
    | undefined
}

/** The database cannot be used, now or at all. The message holds no row and no secret. */
export class StoreFault extends Error {
  override readonly name = 'StoreFault'
  /** Of the driver, the system or the server: `SQLITE_BUSY`. */
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

/** A new key: the digest stands for the secret, which is never stored. */
export interface NewKey extends Omit<VirtualKey, 'deletedAt'> {
  /** BLAKE3 of the whole plaintext, 64 lowercase hex digits. */
  readonly digest: string
}

export interface KeyRow extends VirtualKey {
  readonly digest: string
  readonly budgetSpent: NanoUsd
}

export interface GroupRow extends BudgetGroup {
  readonly budgetSpent: NanoUsd
}

/** What is to change; absent members stay as they are. */
export type KeyChange = Partial<
  Pick<
    VirtualKey,
    'name' | 'groupId' | 'budgetMax' | 'rpmLimit' | 'tpmLimit' | 'expiresAt' | 'disabled'
  >
>

export type GroupChange = Partial<Pick<BudgetGroup, 'name' | 'budgetMax'>>

/** `no-cap`: there is nothing to add to. `too-much`: the cap would pass the largest budget. */
export type GrantError = 'no-cap' | 'too-much'

export interface SpendFlush {
  /** Random, the same when the flush is sent again. */
  readonly id: string
  readonly additions: readonly SpendAddition[]
}

export interface SpendAddition {
  readonly scope: BudgetScope
  readonly id: string
  /** May be negative: an exact count can be lower than its estimate. */
  readonly amount: NanoUsd
}

/** Additions as a database takes them. By scope a JSON array of arrays: id, dollars, billionths. */
export type SpendText = Readonly<Record<BudgetScope, string>>

/** Rows that are written together. They are kept by column, and put together when they are read. */
export interface UsageBatch {
  /** Random, the same when the batch is sent again. */
  readonly id: string
  /** How many rows. */
  readonly length: number
  rows(): NewUsageRow[]
  /** The same rows as a database takes them. */
  text(): UsageText
}

/** What all rows of a batch have in common is sent once: most columns, as a rule. */
export interface UsageText {
  /** Of the batch. */
  readonly id: string
  /** The first row, in the order of the columns. */
  readonly first: readonly UsageValue[]
  /** The columns in which the rows differ. */
  readonly varying: readonly number[]
  /** A JSON array of arrays: of each row what is in those columns. */
  readonly rows: string
  /** What the rows cost, by key and by group. */
  readonly spend: SpendText
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
}

export const usageGroupings = [
  'model',
  'model_used',
  'provider',
  'capability',
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

/** Sums over the rows of one group. `group` is empty where the column is null. */
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

export interface UsageListQuery {
  /** Both inclusive, unix seconds. */
  readonly since: number
  readonly until: number
  /** Only rows with a greater id. */
  readonly cursor: number
  readonly limit: number
}

export type SealedPurpose = 'provider-key' | 'webhook-signing-key' | 'canary'

export interface SealedRow {
  readonly purpose: SealedPurpose
  readonly name: string
  /** The sealed value, text. */
  readonly sealed: string
  /** Unix seconds. */
  readonly updatedAt: number
}

export interface WebhookRow {
  readonly enabled: boolean
  /** The settings document, JSON. */
  readonly settings: string
  /** Unix seconds. */
  readonly updatedAt: number
}
