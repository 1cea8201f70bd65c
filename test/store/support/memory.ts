import { createClient } from '@libsql/client/sqlite3'
import { migrate } from 'drizzle-orm/libsql/migrator'
import { drizzle } from 'drizzle-orm/libsql/sqlite3'
import { onTestFinished } from 'vitest'
import { databaseStore } from '../../../src/store/database.ts'
import { parseUsageRows, type Store } from '../../../src/store/index.ts'

export interface MemoryStore extends Store {
  /** Runs one statement and returns its rows. */
  query(sql: string): Promise<Record<string, unknown>[]>
}

/** Opens a store in memory with the migrated tables. */
export async function memoryStore(): Promise<MemoryStore> {
  const client = createClient({ url: ':memory:', concurrency: 1 })
  onTestFinished(() => client.close())
  await client.execute('pragma foreign_keys = on')
  const db = drizzle({ client })
  await migrate(db, { migrationsFolder: 'src/store/migrations' })
  const store = databaseStore(db)
  return {
    ...store,
    addUsage: (batch) => store.addUsage(batch.text()),
    addLostUsage: (batch, lookup) => store.addLostUsage(batch.text(), lookup),
    listUsage: async (query) => parseUsageRows(`[${(await store.listUsage(query)).join()}]`),
    journal: undefined,
    abandon() {},
    close: async () => client.close(),
    query: async (sql) => (await client.execute(sql)).rows.map((row) => ({ ...row })),
  }
}
