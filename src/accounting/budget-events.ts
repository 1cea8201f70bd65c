import type { AccountEventType, Notify } from '../core/account-event.ts'
import type { Clock } from '../core/ports.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import type { BudgetSubject } from './budget-observer.ts'

export interface BudgetEventOptions {
  readonly clock: Clock
  /** The percentages in force, ascending, each from 1 to 100. */
  readonly percentages: () => readonly number[]
  readonly notify: Notify
}

/** Fires the events of budgets. */
export class BudgetEvents {
  readonly #options: BudgetEventOptions

  constructor(options: BudgetEventOptions) {
    this.#options = options
  }

  /** Fires each percentage above `from`, up to `to`. */
  fireRise(subject: BudgetSubject, { from, to }: Rise): void {
    for (const threshold of this.#options.percentages()) {
      if (threshold > from && threshold <= to) this.#fire('budget.threshold', subject, threshold)
    }
  }

  fireExhausted(subject: BudgetSubject): void {
    this.#fire('budget.exhausted', subject, null)
  }

  #fire(type: AccountEventType, subject: BudgetSubject, threshold: number | null): void {
    const { scope, record, spent: budgetSpent } = subject
    const { id: subjectId, name, budgetMax } = record
    const timestamp = unixSeconds(this.#options.clock)
    const account = { scope, subjectId, name, budgetMax, budgetSpent }
    this.#options.notify({ type, ...account, threshold, timestamp })
  }
}

/** A rise of the spend, in whole percent of the cap. */
export interface Rise {
  readonly from: number
  readonly to: number
}
