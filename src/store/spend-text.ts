import type { BudgetScope } from '../core/accounts.ts'
import { type BudgetTerm, firstTerm } from '../core/budget-period.ts'
import type { NanoUsd } from '../core/ids.ts'
import { splitAmount } from './money.ts'
import type { SpendAddition, SpendText } from './spend-rows.ts'
import { type ChargedRow, clampCost } from './usage-columns.ts'

/** The members of a usage row that make its charge. */
export type SpentRow = Pick<ChargedRow, 'keyId' | 'groupId' | 'cost' | 'keyTerm' | 'groupTerm'>

/** Sums of spend by key and by group, one entry for each: an update applies only one row per id. */
export class SpendSums {
  readonly #sums: Readonly<Record<BudgetScope, Map<string, Sum>>> = {
    key: new Map(),
    group: new Map(),
  }

  /** The number of keys and groups. */
  get size(): number {
    return this.#sums.key.size + this.#sums.group.size
  }

  addRow({ keyId, groupId, cost, keyTerm = firstTerm, groupTerm = firstTerm }: SpentRow): void {
    const amount = clampCost(cost)
    if (amount === zero) return
    this.#sum('key', keyId).add(amount, keyTerm)
    if (groupId !== null) this.#sum('group', groupId).add(amount, groupTerm)
  }

  merge({ scope, id, amount, term = firstTerm, termAmount = amount }: SpendAddition): void {
    const sum = this.#sum(scope, id)
    sum.add(termAmount, term)
    sum.amount += amount - termAmount
  }

  /** Returns the sum over all ids of a scope. */
  total(scope: BudgetScope): NanoUsd {
    let total = zero
    for (const { amount } of this.#sums[scope].values()) total += amount
    return total as NanoUsd // A sum of nano-dollars.
  }

  additions(): SpendAddition[] {
    const list = (scope: BudgetScope) =>
      Array.from(this.#sums[scope], ([id, sum]): SpendAddition => {
        const { term } = sum
        // Sums of nano-dollars.
        const [amount, termAmount] = [sum.amount as NanoUsd, sum.termAmount as NanoUsd]
        return { scope, id, amount, term, termAmount }
      })
    return [...list('key'), ...list('group')]
  }

  text(): SpendText {
    const additions = this.additions()
    const toText = (scope: BudgetScope) =>
      JSON.stringify(additions.filter((addition) => addition.scope === scope).map(toArray))
    return { key: toText('key'), group: toText('group') }
  }

  #sum(scope: BudgetScope, id: string): Sum {
    const known = this.#sums[scope].get(id)
    if (known) return known
    const sum = new Sum()
    this.#sums[scope].set(id, sum)
    return sum
  }
}

const zero = 0n

/**
 * The charges of one id. Those of an earlier term count only in the amount: once they are saved, the
 * spend of their term is no longer shown.
 */
class Sum {
  amount = zero
  term: BudgetTerm = firstTerm
  termAmount = zero

  add(amount: bigint, term: BudgetTerm): void {
    this.amount += amount
    if (term.since < this.term.since) return
    if (term.since > this.term.since) this.termAmount = zero
    this.term = term
    this.termAmount += amount
  }
}

export function spendText(additions: readonly SpendAddition[]): SpendText {
  const sums = new SpendSums()
  for (const addition of additions) sums.merge(addition)
  return sums.text()
}

/** The order is that in which `addTo` of spend.ts reads the array. */
function toArray({ id, amount, term = firstTerm, termAmount = amount }: SpendAddition): unknown[] {
  const [all, part] = [splitAmount(amount), splitAmount(termAmount)]
  const { since, resetsAt, period } = term
  const amounts = [all.usd, all.nano, part.usd, part.nano].map(Number)
  return [id, ...amounts, since, resetsAt, period]
}
