import type { AccountState, BudgetGroup, BudgetScope, VirtualKey } from '../core/accounts.ts'
import { type BudgetTerm, periodEnd, periodStart } from '../core/budget-period.ts'
import type { Millis, NanoUsd } from '../core/ids.ts'
import type { BudgetSubject } from './budget-observer.ts'

/** The initial state of a budget. */
export interface BudgetStart<Record> {
  readonly scope: BudgetScope
  readonly record: Record
  /** The spend of the term. */
  readonly spent: NanoUsd
  readonly spentTotal: NanoUsd
  readonly term: BudgetTerm
}

/** The amounts of a budget, of all processes that share it. */
export type BudgetState = Pick<AccountState<unknown>, 'spent' | 'spentTotal' | 'reserved' | 'term'>

/**
 * The live budget of a key or a group. Its record can be replaced; spend and reservations stay. At
 * the end of a term, spend and reservations start from 0; charges and releases of requests that were
 * admitted before then change only the total.
 */
export class Budget<Record extends VirtualKey | BudgetGroup = VirtualKey | BudgetGroup>
  implements Omit<AccountState<Record>, 'running' | 'requests' | 'tokens'>, BudgetSubject
{
  readonly scope: BudgetScope
  #record: Record
  #spent: bigint
  #spentTotal: bigint
  #reserved = 0n
  #term: BudgetTerm
  /** The term needs no change while the clock is in this range: from the first to before the last. */
  #from: Millis = Number.NEGATIVE_INFINITY
  #until: Millis = Number.POSITIVE_INFINITY

  constructor({ scope, record, spent, spentTotal, term }: BudgetStart<Record>) {
    this.scope = scope
    this.#record = record
    this.#spent = spent
    this.#spentTotal = spentTotal
    this.#term = term
    this.#followTerm(term)
  }

  get record(): Record {
    return this.#record
  }

  // Every bigint of this class is an amount of nano-dollars.
  get spent(): NanoUsd {
    return this.#spent as NanoUsd
  }

  /** The spend of all terms. */
  get spentTotal(): NanoUsd {
    return this.#spentTotal as NanoUsd
  }

  get reserved(): NanoUsd {
    return this.#reserved as NanoUsd
  }

  get term(): BudgetTerm {
    return this.#term
  }

  /** The amount that new requests can still reserve; undefined without a cap. */
  get headroom(): bigint | undefined {
    const { budgetMax } = this.#record
    return budgetMax === null ? undefined : budgetMax - this.#spent - this.#reserved
  }

  /**
   * Returns the spent part of the budget: 1 when all of it is spent, as a budget of 0 is. Nothing of it is spent when
   * a new term begins with the next request. Undefined without a cap.
   */
  findUsed(now: Millis): number | undefined {
    const { budgetMax } = this.#record
    if (budgetMax === null) return undefined
    if (budgetMax === 0n) return 1
    return now < this.#until ? Number(this.#spent) / Number(budgetMax) : 0
  }

  /** Begins a new term if the present one is over. Returns whether it was. */
  turn(now: Millis): boolean {
    if (now >= this.#from && now < this.#until) return false
    const { period, since } = this.#term
    if (period === null) return false
    const at = Math.floor(now / 1000)
    const resetsAt = periodEnd(period, at)
    if (now < this.#until) {
      // The clock was ahead and has been set back: the term goes on, to the end that is true now.
      this.#followTerm({ period, since, resetsAt })
      return false
    }
    this.#begin({ period, since: Math.max(periodStart(period, at), since + 1), resetsAt })
    return true
  }

  /**
   * Replaces the record. `term` is that of the database, and counts when the period has changed.
   * Returns whether the database has begun a new term that this budget has not.
   */
  replace(record: Record, term: BudgetTerm): boolean {
    this.#record = record
    const { period, since } = this.#term
    if (term.period === period) return false
    const isNew = term.since > since
    if (isNew) this.#begin(term)
    else this.#followTerm({ ...term, since })
    return isNew
  }

  /** Replaces spend, reservations and term by those that several processes share. */
  share({ spent, spentTotal, reserved, term }: BudgetState): void {
    this.#spent = spent
    this.#spentTotal = spentTotal
    this.#reserved = reserved
    this.#followTerm(term)
  }

  reserve(amount: bigint): void {
    this.#reserved += amount
  }

  /** Releases an amount that was reserved in the term that began at `since`. */
  release(amount: bigint, { since }: BudgetTerm): void {
    if (since === this.#term.since) this.#reserved -= amount
  }

  /**
   * Adds to the spend of a term; a negative amount is a refund. Returns whether it is the present
   * term.
   */
  charge(amount: bigint, { since }: BudgetTerm): boolean {
    this.#spentTotal += amount
    if (since !== this.#term.since) return false
    this.#spent += amount
    return true
  }

  #begin(term: BudgetTerm): void {
    this.#spent = 0n
    this.#reserved = 0n
    this.#followTerm(term)
  }

  #followTerm(term: BudgetTerm): void {
    const { period, resetsAt } = term
    this.#term = term
    const isEndless = period === null || resetsAt === null
    this.#until = isEndless ? Number.POSITIVE_INFINITY : resetsAt * 1000
    // A clock that is set back into the period before stays in this term: otherwise a step across
    // midnight would reset the budget twice.
    const start = isEndless ? Number.NEGATIVE_INFINITY : periodStart(period, resetsAt - 1)
    this.#from = isEndless ? start : periodStart(period, start - 1) * 1000
  }
}
