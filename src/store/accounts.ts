import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import { toGroupRow } from './groups.ts'
import { toKeyRow } from './keys.ts'
import { budgetGroups, virtualKeys } from './schema.ts'
import type { AccountRows } from './store.ts'

/** Reads all rows in one transaction, so that every key's group is among them. */
export async function readAccounts(db: LibSQLDatabase): Promise<AccountRows> {
  const [keys, groups] = await db.batch([
    db.select().from(virtualKeys).orderBy(virtualKeys.seq),
    db.select().from(budgetGroups).orderBy(budgetGroups.seq),
  ])
  return { keys: keys.map(toKeyRow), groups: groups.map(toGroupRow) }
}
