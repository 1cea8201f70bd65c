import type { UnixSeconds } from './ids.ts'
import type { RequestOrigin } from './origin.ts'

/** The changes through the admin API and the command line. The part before the dot is the scope. */
export const auditActions = [
  'key.create',
  'key.update',
  'key.rotate',
  'key.grant',
  'key.delete',
  'group.create',
  'group.update',
  'group.grant',
  'group.delete',
  'config.replace',
  'provider_key.store',
  'provider_key.delete',
  'cache.clear',
  'usage.reprice',
  'webhooks.replace',
  'webhooks.disable',
  'signing_key.store',
  'signing_key.delete',
  'master_key.rotate',
] as const

export type AuditAction = (typeof auditActions)[number]

export interface Change {
  readonly action: AuditAction
  /** The key or group id, the provider's name, or the hash of the configuration; null for the others. */
  readonly subjectId: string | null
}

/** A change in the audit log. It contains no secret. */
export interface AuditEntry extends Change {
  readonly ts: UnixSeconds
  /** Null for a change by a command. */
  readonly requestId: string | null
  /** The client's address; null where the host does not know it, and for a change by a command. */
  readonly client: string | null
}

/** The audit log, as the admin routes write it. */
export interface Audit {
  /** Returns the entry of a change that a request is about to make. */
  describe(change: Change, origin: RequestOrigin): AuditEntry
  /** Logs the line of a committed change whose row the database already has. Never throws. */
  log(entry: AuditEntry): void
  /** Logs the line and writes the row of a change outside the database. Never rejects. */
  add(entry: AuditEntry): Promise<void>
}

/** Returns the scope of an action, such as `key`. */
export function getAuditScope(action: AuditAction): string {
  return action.slice(0, action.indexOf('.'))
}
