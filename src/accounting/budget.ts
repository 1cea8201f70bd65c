import type { AccountState, BudgetGroup, BudgetScope, VirtualKey } from '../core/accounts.ts'
import type { NanoUsd } from '../core/ids.ts'
import type { BudgetSubject } from './budget-observer.ts'

/** The initial state of a budget. */
export interface BudgetStart<Record> {
  readonly scope: BudgetScope
  readonly record: Record
  readonly spent: NanoUsd
}

/** The live budget of a key or a group. Its record can be replaced; spend and reservations stay. */
export class Budget<Record extends VirtualKey | BudgetGroup = VirtualKey | BudgetGroup>
  implements AccountState<Record>, BudgetSubject
{
  readonly scope: BudgetScope
  #record: Record
  #spent: bigint
  #reserved = 0n

  constructor({ scope, record, spent }: BudgetStart<Record>) {
    this.scope = scope
    this.#record = record
    this.#spent = spent
  }

  get record(): Record {
    return this.#record
  }

  // Every bigint of this class is an amount of nano-dollars.
  get spent(): NanoUsd {
    return this.#spent as NanoUsd
  }

  get reserved(): NanoUsd {
    return this.#reserved as NanoUsd
  }

  /** The amount that new requests can still reserve; undefined without a cap. */
  get headroom(): bigint | undefined {
    const { budgetMax } = this.#record
    return budgetMax === null ? undefined : budgetMax - this.#spent - this.#reserved
  }

  replace(record: Record): void {
    this.#record = record
  }

  reserve(amount: bigint): void {
    this.#reserved += amount
  }

  release(amount: bigint): void {
    this.#reserved -= amount
  }

  /** Adds to the spend; a negative amount is a refund. */
  charge(amount: bigint): void {
    this.#spent += amount
  }
}
