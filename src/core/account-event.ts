import type { BudgetScope } from './accounts.ts'
import type { NanoUsd, UnixSeconds } from './ids.ts'

export const accountEventTypes = [
  'budget.threshold',
  'budget.exhausted',
  'key.disabled',
  'key.rotated',
  'key.deleted',
] as const

export type AccountEventType = (typeof accountEventTypes)[number]

/** An event on a key or a group, delivered to the webhook receiver. */
export interface AccountEvent {
  readonly type: AccountEventType
  readonly scope: BudgetScope
  readonly subjectId: string
  readonly name: string
  readonly budgetMax: NanoUsd | null
  readonly budgetSpent: NanoUsd
  /** The percentage that spend has reached; null for all types but `budget.threshold`. */
  readonly threshold: number | null
  readonly timestamp: UnixSeconds
}

/** Accepts an event. Returns at once and never throws. */
export type Notify = (event: AccountEvent) => void
