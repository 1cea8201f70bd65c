import type { BudgetScope } from '../core/accounts.ts'
import type { NanoUsd } from '../core/ids.ts'

/** A key or a group at the moment of an event on its budget. */
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
 * Receives the events of all budgets, synchronously and in order. It runs on the request path, so
 * it must be quick and never throw.
 */
export interface BudgetObserver {
  /** The spend of the subject has changed. */
  charged(subject: BudgetSubject): void
  /** A request was refused with LM-4001 because of this subject. */
  refused(subject: BudgetSubject): void
  /** A request that may be charged to this subject was admitted. */
  admitted(subject: BudgetSubject): void
  /** The record of the subject was replaced; its name and its cap may be new. */
  changed(subject: BudgetSubject): void
  /** The budget was reset. */
  turned(subject: BudgetSubject): void
  /**
   * The subject was added to the registry: read from the database, or just created. `known`: its spend as far as
   * it is no news, by default all of it; `charged` follows for the rest.
   */
  loaded(subject: BudgetSubject, known?: NanoUsd): void
}
