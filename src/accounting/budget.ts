import type { AccountState, BudgetGroup, BudgetScope, VirtualKey } from '../core/accounts.ts'
import type { NanoUsd } from '../core/ids.ts'
import type { BudgetSubject } from './budget-observer.ts'
import { MinuteWindow } from './window.ts'

/** What a budget begins with. */
export interface BudgetStart<Record> {
  readonly scope: BudgetScope
  readonly record: Record
  readonly spent: NanoUsd
}

/** A key or a group as it stands now. Its record is replaced; what it has spent and reserved stays. */
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

  /** What may still be promised to requests; undefined without a cap. */
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

  /** Adds to what is spent; a negative amount takes away. */
  charge(amount: bigint): void {
    this.#spent += amount
  }
}

export type GroupEntry = Budget<BudgetGroup>

/** A key with its budget and with its counts of this minute. */
export class KeyEntry extends Budget<VirtualKey> {
  readonly requests = new MinuteWindow()
  readonly tokens = new MinuteWindow()
}
