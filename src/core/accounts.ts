import type { GroupId, KeyId, NanoUsd, UnixSeconds } from './ids.ts'

/** A virtual key without its secret and its spend. */
export interface VirtualKey {
  readonly id: KeyId
  readonly name: string
  /** The group whose budget also covers this key; null without one. */
  readonly groupId: GroupId | null
  /** Null: no cap. */
  readonly budgetMax: NanoUsd | null
  /** Requests per minute; null: no limit. */
  readonly rpmLimit: number | null
  /** Tokens per minute; null: no limit. */
  readonly tpmLimit: number | null
  readonly expiresAt: UnixSeconds | null
  readonly disabled: boolean
  readonly createdAt: UnixSeconds
  /** Set on a tombstone: the key is deleted, but its spend stays attributed to it. */
  readonly deletedAt: UnixSeconds | null
}

/** A group of keys with a shared budget. It sets no other limit. */
export interface BudgetGroup {
  readonly id: GroupId
  readonly name: string
  /** Null: no cap; the group only adds up the spend of its keys. */
  readonly budgetMax: NanoUsd | null
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
  readonly spent: NanoUsd
  readonly reserved: NanoUsd
}

export type KeyState = AccountState<VirtualKey>
export type GroupState = AccountState<BudgetGroup>
