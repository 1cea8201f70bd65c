import { type SQL, sql } from 'drizzle-orm'
import type { NanoUsd } from '../core/ids.ts'
import { maxBudget, splitAmount } from './money.ts'
import type { budgetGroups, virtualKeys } from './schema.ts'

type Capped = typeof budgetGroups | typeof virtualKeys

/**
 * Returns the columns that add to a cap inside the database, so that no concurrent grant is lost.
 */
export function grantColumns(table: Capped, amount: NanoUsd) {
  const { usd, nano } = raiseCap(table, amount)
  return { budgetMaxUsd: usd, budgetMaxNano: nano }
}

/** Matches rows that have a cap and, with the grant, stay within the maximum budget. */
export function whereGrantFits(table: Capped, amount: NanoUsd): SQL {
  const { usd, nano } = raiseCap(table, amount)
  const largest = splitAmount(maxBudget)
  return sql`(${usd}, ${nano}) <= (${largest.usd}, ${largest.nano})`
}

function raiseCap(table: Capped, amount: NanoUsd) {
  // Bound as bigints: numbers are bound as floats, whose division keeps the fraction.
  const { usd, nano } = splitAmount(amount)
  const nanos = sql`(${table.budgetMaxNano} + ${nano})`
  return {
    usd: sql`${table.budgetMaxUsd} + ${usd} + ${nanos} / 1000000000`,
    nano: sql`${nanos} % 1000000000`,
  }
}
