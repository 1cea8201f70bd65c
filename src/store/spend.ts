import { type SQL, sql } from 'drizzle-orm'
import type { BatchItem } from 'drizzle-orm/batch'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import { writeOnce } from './once.ts'
import { spendText } from './spend-text.ts'
import type { SpendFlush, SpendText } from './store.ts'

/** Adds to what keys and groups have spent, inside the database. */
export async function addSpend(db: LibSQLDatabase, flush: SpendFlush): Promise<void> {
  await writeOnce(db, flush.id, spendStatements(db, spendText(flush.additions)))
}

/** One statement for each table in which something changes. */
export function spendStatements(
  db: LibSQLDatabase,
  { key, group }: SpendText,
): readonly BatchItem<'sqlite'>[] {
  return [...addTo(db, sql`virtual_keys`, key), ...addTo(db, sql`budget_groups`, group)]
}

function addTo(db: LibSQLDatabase, table: SQL, amounts: string): BatchItem<'sqlite'>[] {
  if (amounts === '[]') return []
  const update = sql`
    update ${table} set
      budget_spent_usd = budget_spent_usd + added.usd + (budget_spent_nano + added.nano) / 1000000000,
      budget_spent_nano = (budget_spent_nano + added.nano) % 1000000000
    from (
      select value ->> 0 as id, value ->> 1 as usd, value ->> 2 as nano
      from json_each(${amounts})
    ) as added
    where ${table}.id = added.id
  `
  return [db.run(update)]
}
