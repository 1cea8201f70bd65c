import type { BudgetScope } from '../core/accounts.ts'
import type { NanoUsd } from '../core/ids.ts'
import { splitAmount } from './money.ts'
import type { SpendAddition, SpendText } from './store.ts'

/** Sums of spend by key and by group, one entry for each: an update applies only one row per id. */
export class SpendSums {
  readonly #sums: Readonly<Record<BudgetScope, Map<string, bigint>>> = {
    key: new Map(),
    group: new Map(),
  }

  add(scope: BudgetScope, id: string, amount: NanoUsd): void {
    if (amount === zero) return
    const sums = this.#sums[scope]
    sums.set(id, (sums.get(id) ?? zero) + amount)
  }

  /** Returns the sum over all ids of a scope. */
  total(scope: BudgetScope): NanoUsd {
    let total = zero
    for (const sum of this.#sums[scope].values()) total += sum
    return total as NanoUsd // A sum of nano-dollars.
  }

  additions(): SpendAddition[] {
    const list = (scope: BudgetScope) =>
      // Sums of nano-dollars.
      Array.from(this.#sums[scope], ([id, sum]) => ({ scope, id, amount: sum as NanoUsd }))
    return [...list('key'), ...list('group')].filter(({ amount }) => amount !== zero)
  }

  text(): SpendText {
    return { key: toJson(this.#sums.key), group: toJson(this.#sums.group) }
  }
}

const zero = 0n

export function spendText(additions: readonly SpendAddition[]): SpendText {
  const sums = new SpendSums()
  for (const { scope, id, amount } of additions) sums.add(scope, id, amount)
  return sums.text()
}

function toJson(sums: ReadonlyMap<string, bigint>): string {
  return JSON.stringify(
    Array.from(sums, ([id, sum]) => {
      const { usd, nano } = splitAmount(sum as NanoUsd) // A sum of nano-dollars.
      return [id, Number(usd), Number(nano)]
    }),
  )
}
