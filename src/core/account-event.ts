import type { BudgetScope } from './accounts.ts'
import type { NanoUsd } from './ids.ts'

export const accountEventTypes = [
  'budget.threshold',
  'budget.exhausted',
  'key.disabled',
  'key.rotated',
  'key.deleted',
] as const

export type AccountEventType = (typeof accountEventTypes)[number]

/** Something that happened to a key or a group, as its owner may want to be told. */
export interface AccountEvent {
  readonly type: AccountEventType
  readonly scope: BudgetScope
  readonly subjectId: string
  readonly name: string
  readonly budgetMax: NanoUsd | null
  readonly budgetSpent: NanoUsd
  /** The percentage that was crossed; null for all but `budget.threshold`. */
  readonly threshold: number | null
  /** Unix seconds. */
  readonly timestamp: number
}

/** Takes an event, at once and without ever failing. */
export type Notify = (event: AccountEvent) => void
