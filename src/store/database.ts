import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import { readAccounts } from './accounts.ts'
import { createGroup, deleteGroup, grantGroup, updateGroup } from './groups.ts'
import { createKey, deleteKey, grantKey, rotateKey, updateKey } from './keys.ts'
import {
  deleteSealed,
  putSealed,
  putWebhookSettings,
  readSealed,
  readWebhookSettings,
} from './settings.ts'
import { addSpend } from './spend.ts'
import type { Store, UsageListQuery, UsageText } from './store.ts'
import { addUsage, listUsage, purgeUsage, sumUsage } from './usage.ts'

export {
  type Holder,
  type Lease,
  readLastHolder,
  recordHolder,
  releaseLease,
  takeLease,
} from './lease.ts'

/**
 * The store where its database is. Rows of the usage log are texts here, so that nothing is spent on
 * them on their way to another thread: see `UsageText` and `usageRows`. Errors are the driver's own.
 */
export interface DatabaseStore extends Omit<Store, 'addUsage' | 'listUsage' | 'abandon' | 'close'> {
  addUsage(batch: UsageText): Promise<void>
  listUsage(query: UsageListQuery): Promise<readonly string[]>
}

/**
 * The store over a libSQL database that is open and has its tables. It sends single statements and
 * batches, which must be carried out as one writing transaction.
 */
export function databaseStore(db: LibSQLDatabase): DatabaseStore {
  return {
    readAccounts: () => readAccounts(db),
    createKey: (key) => createKey(db, key),
    updateKey: (id, change) => updateKey(db, id, change),
    rotateKey: (id, digest) => rotateKey(db, id, digest),
    deleteKey: (id, at) => deleteKey(db, id, at),
    grantKey: (id, amount) => grantKey(db, id, amount),
    createGroup: (group) => createGroup(db, group),
    updateGroup: (id, change) => updateGroup(db, id, change),
    deleteGroup: (id, at) => deleteGroup(db, id, at),
    grantGroup: (id, amount) => grantGroup(db, id, amount),
    addSpend: (flush) => addSpend(db, flush),
    addUsage: (batch) => addUsage(db, batch),
    purgeUsage: (before, limit) => purgeUsage(db, before, limit),
    sumUsage: (query) => sumUsage(db, query),
    listUsage: (query) => listUsage(db, query),
    readSealed: (purpose) => readSealed(db, purpose),
    putSealed: (row) => putSealed(db, row),
    deleteSealed: (purpose, name) => deleteSealed(db, purpose, name),
    readWebhookSettings: () => readWebhookSettings(db),
    putWebhookSettings: (row) => putWebhookSettings(db, row),
  }
}
