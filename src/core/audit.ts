import type { RequestOrigin } from './origin.ts'

/** A change through the admin API. The part before the dot is its scope. */
export type AuditAction =
  | `key.${'create' | 'update' | 'rotate' | 'grant' | 'delete'}`
  | `group.${'create' | 'update' | 'grant' | 'delete'}`
  | 'config.replace'
  | `provider_key.${'store' | 'delete'}`
  | 'cache.clear'
  | `webhooks.${'replace' | 'disable'}`
  | `signing_key.${'store' | 'delete'}`

/** A committed change. It contains no secret. */
export interface Change {
  readonly action: AuditAction
  /** The key or group id, the provider's name, or the hash of the configuration; null for webhooks and the cache. */
  readonly subjectId: string | null
}

/** Records a change synchronously. Never throws. */
export type Audit = (change: Change, origin: RequestOrigin) => void
