import type { AccountLimits, BudgetGroup, VirtualKey } from '../core/accounts.ts'
import type { BudgetPeriod, BudgetTerm } from '../core/budget-period.ts'
import type { NanoUsd, UnixSeconds } from '../core/ids.ts'

export interface AccountRows {
  readonly keys: readonly KeyRow[]
  readonly groups: readonly GroupRow[]
}

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
