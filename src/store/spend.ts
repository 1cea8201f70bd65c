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
    })
    .from(sql`json_each(${amounts})`)
    .as('added')
  const nanos = sql`(${table.budgetSpentNano} + ${added.nano})`
  const update = db
    .update(table)
    .set({
      budgetSpentUsd: sql`${table.budgetSpentUsd} + ${added.usd} + ${nanos} / 1000000000`,
      budgetSpentNano: sql`${nanos} % 1000000000`,
    })
    .from(added)
    .where(eq(table.id, added.id))
  return [update]
}
