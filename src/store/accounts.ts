import { gt, inArray } from 'drizzle-orm'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import type { AccountRows } from './account-rows.ts'
import { toGroupRow } from './groups.ts'
import { toKeyRow } from './keys.ts'
import { budgetGroups, changedAccounts, virtualKeys } from './schema.ts'

/** Reads the rows in one transaction, so that the group of every new key is among them. */
export async function readAccounts(db: LibSQLDatabase, since?: number): Promise<AccountRows> {
  const changed = db
    .select({ id: changedAccounts.subject })
    .from(changedAccounts)
    .where(gt(changedAccounts.count, since ?? 0))
  const isWanted = (table: typeof virtualKeys | typeof budgetGroups) =>
    since === undefined ? undefined : inArray(table.id, changed)
  const [keys, groups] = await db.batch([
    db.select().from(virtualKeys).where(isWanted(virtualKeys)).orderBy(virtualKeys.seq),
    db.select().from(budgetGroups).where(isWanted(budgetGroups)).orderBy(budgetGroups.seq),
  ])
  return { keys: keys.map(toKeyRow), groups: groups.map(toGroupRow) }
}
