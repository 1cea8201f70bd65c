import type { BudgetScope } from '../core/accounts.ts'
import type { BudgetTerm } from '../core/budget-period.ts'
import type { NanoUsd, UnixSeconds } from '../core/ids.ts'
import type { SavedSpend } from './account-rows.ts'

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
