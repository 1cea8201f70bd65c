import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import { changeCounts } from './schema.ts'
import type { ChangeCounts } from './store.ts'

export async function readChanges(db: LibSQLDatabase): Promise<ChangeCounts> {
  const rows = await db.select().from(changeCounts)
  const counts = { accounts: 0, 'provider-keys': 0, webhooks: 0 }
  for (const { topic, count } of rows) counts[topic] = count
  return counts
}
