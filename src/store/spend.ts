import { type SQL, sql } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import type { BudgetScope } from '../core/accounts.ts'
import type { NanoUsd } from '../core/ids.ts'
import { amountOf } from './money.ts'
import { writeOnce } from './once.ts'
import type { SpendAddition, SpendFlush } from './store.ts'

/** Adds to what keys and groups have spent, inside the database: one statement for each table. */
export async function addSpend(db: LibSQLDatabase, flush: SpendFlush): Promise<void> {
  await writeOnce(db, flush.id, [
    addTo(db, sql`virtual_keys`, amountsOf(flush.additions, 'key')),
    addTo(db, sql`budget_groups`, amountsOf(flush.additions, 'group')),
  ])
}

function addTo(db: LibSQLDatabase, table: SQL, amounts: string) {
  return db.run(sql`
    update ${table} set
      budget_spent_usd = budget_spent_usd + added.usd + (budget_spent_nano + added.nano) / 1000000000,
      budget_spent_nano = (budget_spent_nano + added.nano) % 1000000000
    from (
      select value ->> 0 as id, value ->> 1 as usd, value ->> 2 as nano
      from json_each(${amounts})
    ) as added
    where ${table}.id = added.id
  `)
}

/** JSON: id, dollars and billionths. Each id once, since an update takes only one row of each. */
function amountsOf(additions: readonly SpendAddition[], scope: BudgetScope): string {
  const sums = new Map<string, bigint>()
  for (const addition of additions) {
    if (addition.scope !== scope) continue
    sums.set(addition.id, (sums.get(addition.id) ?? 0n) + addition.amount)
  }
  return JSON.stringify(
    Array.from(sums, ([id, sum]) => {
      const { usd, nano } = amountOf(sum as NanoUsd) // A sum of such.
      return [id, Number(usd), Number(nano)]
    }),
  )
}
