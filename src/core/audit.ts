import type { RequestOrigin } from './origin.ts'

/** What an operator changes through the admin API. The part before the dot is the scope. */
export type AuditAction =
  | `key.${'create' | 'update' | 'rotate' | 'grant' | 'delete'}`
  | `group.${'create' | 'update' | 'grant' | 'delete'}`
  | 'config.replace'
  | `provider_key.${'store' | 'delete'}`
  | `webhooks.${'replace' | 'disable'}`
  | `signing_key.${'store' | 'delete'}`

/** A change, once it is committed. It holds no secret. */
export interface Change {
  readonly action: AuditAction
  /** Id of the key or group, name of the provider, hash of the configuration; null for webhooks. */
  readonly subjectId: string | null
}

/** Keeps account of a change, at once and without ever failing. */
export type Audit = (change: Change, origin: RequestOrigin) => void
