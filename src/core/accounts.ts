import type { GroupId, KeyId, NanoUsd } from './ids.ts'

/** A virtual key without its secret and without what it has spent. Times are unix seconds. */
export interface VirtualKey {
  readonly id: KeyId
  readonly name: string
  /** The group whose pool it draws on as well; at most one. */
  readonly groupId: GroupId | null
  /** Null: no cap. */
  readonly budgetMax: NanoUsd | null
  /** Requests a minute; null: no limit. */
  readonly rpmLimit: number | null
  /** Tokens a minute; null: no limit. */
  readonly tpmLimit: number | null
  readonly expiresAt: number | null
  readonly disabled: boolean
  readonly createdAt: number
  /** Set on a tombstone: the key is gone, what it spent stays attributed to it. */
  readonly deletedAt: number | null
}

/** A pool that the keys of a group share. It has a budget and nothing else. */
export interface BudgetGroup {
  readonly id: GroupId
  readonly name: string
  /** Null: no cap, the group only attributes. */
  readonly budgetMax: NanoUsd | null
  readonly createdAt: number
  readonly deletedAt: number | null
}

/** Whose budget it is. */
export type BudgetScope = 'key' | 'group'

/** Who is charged for a request: settled when it is admitted, whatever changes meanwhile. */
export interface Account {
  readonly keyId: KeyId
  readonly groupId: GroupId | null
}

/** A key or a group with what it has spent, and what its running requests may still spend. */
export interface AccountState<Record> {
  readonly record: Record
  readonly spent: NanoUsd
  readonly reserved: NanoUsd
}

export type KeyState = AccountState<VirtualKey>
export type GroupState = AccountState<BudgetGroup>
