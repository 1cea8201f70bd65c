import type { UnixSeconds } from './ids.ts'

/** After which time a budget starts again: at the next midnight, Monday or first of a month, in UTC. */
export const budgetPeriods = ['day', 'week', 'month'] as const
export type BudgetPeriod = (typeof budgetPeriods)[number]

/**
 * The time from one reset of a budget to the next. A request is charged to the term in which it was
 * admitted.
 */
export interface BudgetTerm {
  /** Null: the budget is never reset. */
  readonly period: BudgetPeriod | null
  /** When the term began; 0 before the first reset. It identifies the term, and only ever grows. */
  readonly since: UnixSeconds
  readonly resetsAt: UnixSeconds | null
}

/** The term of a budget that has never been reset. */
export const firstTerm: BudgetTerm = Object.freeze({ period: null, since: 0, resetsAt: null })

const day = 86_400

/** Returns the start of the calendar period that contains `at`. */
export function periodStart(period: BudgetPeriod, at: UnixSeconds): UnixSeconds {
  const days = Math.floor(at / day)
  switch (period) {
    case 'day':
      return days * day
    case 'week':
      // The epoch was a Thursday, three days after a Monday.
      return (days - ((days + 3) % 7)) * day
    case 'month':
      return startOfMonth(at, 0)
    default:
      return period satisfies never
  }
}

/** Returns the end of the calendar period that contains `at`, which is the start of the next one. */
export function periodEnd(period: BudgetPeriod, at: UnixSeconds): UnixSeconds {
  switch (period) {
    case 'day':
      return periodStart(period, at) + day
    case 'week':
      return periodStart(period, at) + 7 * day
    case 'month':
      return startOfMonth(at, 1)
    default:
      return period satisfies never
  }
}

/** Returns the start of the month that comes `later` months after that of `at`. */
function startOfMonth(at: UnixSeconds, later: number): UnixSeconds {
  const date = new Date(at * 1000)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + later) / 1000
}
