import type { AuditEntry } from '../../../src/core/audit.ts'
import type { Millis } from '../../../src/core/ids.ts'
import type { Holder } from '../../../src/store/database.ts'
import type {
  AccountRows,
  StoreClaim,
  StoreMethod,
  StoreReport,
  StoreSettings,
} from '../../../src/store/index.ts'

/** The start data of the database's thread. */
export interface ThreadSettings
  extends Pick<StoreSettings, 'path' | 'token' | 'journalFolder' | 'onMissing'> {
  /** Undefined for a command. */
  readonly claim: ClaimSettings | undefined
  /** How long the lease on a server remains without renewal. */
  readonly lease: Millis
}

/** How a gateway claims the database, and as which process. */
export interface ClaimSettings extends Holder, StoreClaim {}

/** Whether a path is the address of a libSQL server. */
export function isServerAddress(path: string): boolean {
  return /^(libsql|https?):/i.test(path)
}

/** The methods that the thread runs. */
export type ThreadMethod = StoreMethod | 'open' | 'listLeft' | 'copy' | 'close'

export interface StoreCall {
  readonly method: ThreadMethod
  readonly args: readonly unknown[]
  /** The audit row that a write adds in its transaction. */
  readonly audit?: AuditEntry | undefined
  /** The end of its retries, on the clock that all threads share. */
  readonly deadline: Millis
}

/** A message to the thread: one call at a time, or `abandon` at any time, without a result. */
export type ThreadMessage = StoreCall | 'abandon'

/**
 * A message from the thread: the result of a call, or a `report` at any time. Long lists come in
 * pieces, so that the main thread can do other work between two of them.
 */
export type StoreMessage =
  | { readonly kind: 'value'; readonly value: unknown }
  /** JSON, as `parseUsageRows` reads it. */
  | { readonly kind: 'usage'; readonly pieces: readonly string[] }
  /** Rows as written by `serialize` of node:v8. */
  | { readonly kind: 'accounts'; readonly pieces: Pieces<AccountRows> }
  | { readonly kind: 'fault'; readonly message: string; readonly code: string | undefined }
  | { readonly kind: 'report'; readonly report: Parameters<StoreReport> }

type Pieces<Lists> = { readonly [Name in keyof Lists]: readonly Uint8Array[] }
