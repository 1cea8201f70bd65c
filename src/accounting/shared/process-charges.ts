import type { BudgetTerm } from '../../core/budget-period.ts'
import { noShare, type Share, type SubjectName, writeShare } from './values.ts'

/**
 * What this process has charged to each subject, since it started. The server gets the whole amount each
 * time, with a sequence number: so it does not matter how often a charge is sent, or in which order.
 */
export class ProcessCharges {
  readonly #shares = new Map<SubjectName, Share>()

  /** Adds to a share; a negative amount is a refund. */
  charge(name: SubjectName, amount: bigint, { since }: BudgetTerm): void {
    const before = this.get(name)
    const isOver = since < before.since
    const kept = since > before.since ? 0n : before.amount
    this.#shares.set(name, {
      sequence: before.sequence + 1,
      since: Math.max(since, before.since),
      amount: kept + (isOver ? 0n : amount),
      total: before.total + amount,
    })
  }

  get(name: SubjectName): Share {
    return this.#shares.get(name) ?? noShare
  }

  write(name: SubjectName): string {
    return writeShare(this.get(name))
  }

  names(): Iterable<SubjectName> {
    return this.#shares.keys()
  }
}

/** Returns the part of a share that is charged to a term. */
export function amountIn(share: Pick<Share, 'since' | 'amount'>, { since }: BudgetTerm): bigint {
  return share.since === since ? share.amount : 0n
}
