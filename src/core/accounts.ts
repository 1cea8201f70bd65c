import type { BudgetPeriod, BudgetTerm } from './budget-period.ts'
import type { GroupId, KeyId, Millis, NanoUsd, UnixSeconds } from './ids.ts'
import type { Priority } from './room.ts'

/** The limits that both keys and groups can have. */
export interface AccountLimits {
  /** The ids of the models that may be used; a trailing `*` matches any ending. Null: all models. */
  readonly models: readonly string[] | null
  /** Null: no cap. */
  readonly budgetMax: NanoUsd | null
  /** Null: the budget is never reset. */
  readonly budgetPeriod: BudgetPeriod | null
  /** Requests per minute; null: no limit. */
  readonly rpmLimit: number | null
  /** Tokens per minute; null: no limit. */
  readonly tpmLimit: number | null
  /** Requests at once; null: no limit. */
  readonly maxParallel: number | null
  /** Who goes first where requests wait for an upstream; null: that of the group, else `normal`. */
  readonly priority: Priority | null
}

/** A virtual key without its secret and its spend. */
export interface VirtualKey extends AccountLimits {
  readonly id: KeyId
  readonly name: string
  /** The group whose limits also apply to this key; null without one. */
  readonly groupId: GroupId | null
  readonly expiresAt: UnixSeconds | null
  readonly disabled: boolean
  /** When the secret from before the last rotation stops working; null: at the rotation. */
  readonly graceEndsAt: UnixSeconds | null
  readonly createdAt: UnixSeconds
  /** Set on a tombstone: the key is deleted, but its spend stays attributed to it. */
  readonly deletedAt: UnixSeconds | null
}

/** A group of keys that share its limits. */
export interface BudgetGroup extends AccountLimits {
  readonly id: GroupId
  readonly name: string
  readonly createdAt: UnixSeconds
  readonly deletedAt: UnixSeconds | null
}

/** The kind of subject that a budget belongs to. */
export type BudgetScope = 'key' | 'group'

/** The key and the group that a request is charged to. Fixed when the request is admitted. */
export interface Account {
  readonly keyId: KeyId
  readonly groupId: GroupId | null
}

/** A key or a group with its spend and with the amount reserved for its running requests. */
export interface AccountState<Record> {
  readonly record: Record
  /** Since the budget was last reset. */
  readonly spent: NanoUsd
  readonly spentTotal: NanoUsd
  readonly term: BudgetTerm
  readonly reserved: NanoUsd
  /** The number of admitted requests that have not ended. */
  readonly running: number
  readonly requests: MinuteCount
  readonly tokens: MinuteCount
}

/** A count that begins anew with each minute of the wall clock. */
export interface MinuteCount {
  /** Returns the count in the minute of `now`. */
  used(now: Millis): number
}

export type KeyState = AccountState<VirtualKey>
export type GroupState = AccountState<BudgetGroup>
