import type { BudgetScope } from '../core/accounts.ts'
import type { NanoUsd } from '../core/ids.ts'

/** A key or a group, read when something happens to its budget. */
export interface BudgetSubject {
  readonly scope: BudgetScope
  readonly record: {
    readonly id: string
    readonly name: string
    /** Null: no cap. */
    readonly budgetMax: NanoUsd | null
  }
  readonly spent: NanoUsd
}

/**
 * Someone who follows what becomes of the budgets. Told at once and in order, on the request path:
 * it must be quick and never throw.
 */
export interface BudgetObserver {
  /** What the subject has spent has changed. */
  charged(subject: BudgetSubject): void
  /** A request was refused with LM-4001 because of this subject. */
  refused(subject: BudgetSubject): void
  /** A request was admitted that this subject may be charged for. */
  admitted(subject: BudgetSubject): void
  /** The subject's record was replaced: perhaps its name or its cap is another one. */
  changed(subject: BudgetSubject): void
  /** The subject is new here: read from the database, or just created. */
  loaded(subject: BudgetSubject): void
}
