import type { AuditEntry } from '../core/audit.ts'
import { readAccounts } from './accounts.ts'
import { addAudit, type ClientDatabase, listAudit, purgeAudit, withAuditRow } from './audit.ts'
import { readChanges } from './changes.ts'
import { createGroup, deleteGroup, grantGroup, updateGroup } from './groups.ts'
import { createKey, deleteKey, grantKey, rotateKey, updateKey } from './keys.ts'
import { forgetProcess, listProcesses, readShares } from './processes.ts'
import { addRefused, purgeRefused } from './refused.ts'
import { listRequests } from './request-list.ts'
import {
  deleteSealed,
  putSealed,
  putWebhookSettings,
  readSealed,
  readWebhookSettings,
  replaceSealed,
} from './settings.ts'
import { addSpend, readSpend } from './spend.ts'
import { type AuditedStore, type Store, type StoreMethod, storeMethods } from './store.ts'
import {
  addLostUsage,
  addUsage,
  findUsage,
  listUsage,
  purgeUsage,
  readPrices,
  sumUsage,
  sumUsageByInterval,
  writeRepriced,
} from './usage.ts'
import type { LostCharge, LostLookup, UsageListQuery, UsageText } from './usage-queries.ts'

export type { ClientDatabase } from './audit.ts'
export {
  describeState,
  type HeldState,
  isOwnState,
  type OwnState,
  readHeldState,
  writeHeldState,
} from './held-state.ts'
export {
  type Claimant,
  type Holder,
  type Lease,
  readLastHolder,
  recordHolder,
  releaseLease,
  takeLease,
} from './lease.ts'

/**
 * The store on the thread of its database. Usage rows are texts here, so that passing them to
 * another thread costs little: see `UsageText` and `parseUsageRows`. Errors are the driver's own.
 */
export interface DatabaseStore extends Omit<Pick<Store, StoreMethod>, BatchMethod | 'listUsage'> {
  addUsage(batch: UsageText): Promise<readonly LostCharge[]>
  addLostUsage(batch: UsageText, lookup: LostLookup): Promise<boolean>
  listUsage(query: UsageListQuery): Promise<readonly string[]>
  audited(entry: AuditEntry): AuditedStore
}

/** The methods that take rows. */
type BatchMethod = 'addUsage' | 'addLostUsage'

type Operations = {
  readonly [Method in StoreMethod]: (
    db: ClientDatabase,
    ...args: Parameters<DatabaseStore[Method]>
  ) => ReturnType<DatabaseStore[Method]>
}

const operations: Operations = {
  readAccounts,
  readChanges,
  createKey,
  updateKey,
  rotateKey,
  deleteKey,
  grantKey,
  createGroup,
  updateGroup,
  deleteGroup,
  grantGroup,
  addSpend,
  addUsage,
  addLostUsage,
  readSpend,
  listProcesses,
  readShares,
  forgetProcess,
  findUsage,
  purgeUsage,
  sumUsage,
  sumUsageByInterval,
  readPrices,
  writeRepriced,
  listUsage,
  addRefused,
  purgeRefused,
  listRequests,
  readSealed,
  putSealed,
  replaceSealed,
  deleteSealed,
  readWebhookSettings,
  putWebhookSettings,
  addAudit,
  purgeAudit,
  listAudit,
}

/**
 * Creates the store over an open libSQL database that has its tables. It sends single statements,
 * and batches that the database must run as one write transaction.
 */
export function databaseStore(db: ClientDatabase): DatabaseStore {
  const bound = storeMethods.map((method) => {
    const operation = operations[method] as (db: ClientDatabase, ...args: unknown[]) => unknown
    return [method, (...args: unknown[]) => operation(db, ...args)]
  })
  const audited = (entry: AuditEntry) => databaseStore(withAuditRow(db, entry))
  // `Operations` makes each of them the method of its name.
  return { ...Object.fromEntries(bound), audited } as unknown as DatabaseStore
}
