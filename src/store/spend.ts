import { eq, sql } from 'drizzle-orm'
import type { BatchItem } from 'drizzle-orm/batch'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import { writeOnce } from './once.ts'
import { budgetGroups, virtualKeys } from './schema.ts'
import { spendText } from './spend-text.ts'
import type { SpendFlush, SpendText } from './store.ts'

/** Adds to the spend of keys and groups inside the database. */
export async function addSpend(db: LibSQLDatabase, flush: SpendFlush): Promise<void> {
  await writeOnce(db, flush.id, spendStatements(db, spendText(flush.additions)))
}

/** Returns one statement for each table that changes. */
export function spendStatements(
  db: LibSQLDatabase,
  { key, group }: SpendText,
): readonly BatchItem<'sqlite'>[] {
  return [...addTo(db, virtualKeys, key), ...addTo(db, budgetGroups, group)]
}

function addTo(
  db: LibSQLDatabase,
  table: typeof virtualKeys | typeof budgetGroups,
  amounts: string,
): BatchItem<'sqlite'>[] {
  if (amounts === '[]') return []
  const added = db
    .select({
      id: sql<string>`value ->> 0`.as('added_id'),
      usd: sql<number>`value ->> 1`.as('added_usd'),
      nano: sql<number>`value ->> 2`.as('added_nano'),
      termUsd: sql<number>`value ->> 3`.as('added_term_usd'),
      termNano: sql<number>`value ->> 4`.as('added_term_nano'),
      since: sql<number>`value ->> 5`.as('added_since'),
      resetsAt: sql<number | null>`value ->> 6`.as('added_resets_at'),
      period: sql<string | null>`value ->> 7`.as('added_period'),
    })
    .from(sql`json_each(${amounts})`)
    .as('added')
  const totalNanos = sql`(${table.spentTotalNano} + ${added.nano})`
  const spentNanos = sql`(${table.budgetSpentNano} + ${added.termNano})`
  const isSameTerm = sql`${added.since} = ${table.budgetSince}`
  const isNextTerm = sql`${added.since} > ${table.budgetSince}`
  const update = db
    .update(table)
    .set({
      spentTotalUsd: sql`${table.spentTotalUsd} + ${added.usd} + ${totalNanos} / 1000000000`,
      spentTotalNano: sql`${totalNanos} % 1000000000`,
      budgetSpentUsd: sql`case
        when ${isSameTerm} then ${table.budgetSpentUsd} + ${added.termUsd} + ${spentNanos} / 1000000000
        when ${isNextTerm} then ${added.termUsd}
        else ${table.budgetSpentUsd} end`,
      budgetSpentNano: sql`case
        when ${isSameTerm} then ${spentNanos} % 1000000000
        when ${isNextTerm} then ${added.termNano}
        else ${table.budgetSpentNano} end`,
      budgetSince: sql`max(${table.budgetSince}, ${added.since})`,
      // If the period has changed since the charge, the change has set the end.
      budgetResetsAt: sql`case
        when ${isNextTerm} and ${added.period} is ${table.budgetPeriod} then ${added.resetsAt}
        else ${table.budgetResetsAt} end`,
    })
    .from(added)
    .where(eq(table.id, added.id))
  return [update]
}
