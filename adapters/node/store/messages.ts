import type { Millis } from '../../../src/core/ids.ts'
import type { Holder } from '../../../src/store/database.ts'
import type { AccountRows, StoreMethod, StoreSettings } from '../../../src/store/index.ts'

/** What the thread of the store is started with. */
export interface ThreadSettings extends Pick<StoreSettings, 'path' | 'token'> {
  /** Undefined for a command. */
  readonly claim: ClaimSettings | undefined
  /** How long the lease on a server outlives a process that does not renew it. */
  readonly lease: Millis
}

/** How a gateway claims the database, and as which process. */
export interface ClaimSettings extends Holder {
  readonly mode: Exclude<StoreSettings['claim'], undefined>
}

/** Whether a path is the address of a libSQL server. */
export function isRemote(path: string): boolean {
  return /^(libsql|https?):/i.test(path)
}

/** The methods of the thread: those of the database, and the begin and end of its use. */
export type ThreadMethod = StoreMethod | 'open' | 'close'

export interface StoreCall {
  readonly method: ThreadMethod
  readonly args: readonly unknown[]
  /** Until when it may go on trying, on the clock that all threads share. */
  readonly deadline: Millis
}

/** Calls come one at a time; `abandon` may come at any time, and has no answer. */
export type ThreadMessage = StoreCall | 'abandon'

/**
 * What the thread says. `report` comes in between, all others answer the call. Long lists come in
 * pieces, so that the main thread can do other things between two of them.
 */
export type StoreMessage =
  | { readonly kind: 'value'; readonly value: unknown }
  /** JSON, as `usageRows` reads it. */
  | { readonly kind: 'usage'; readonly pieces: readonly string[] }
  /** Rows as `serialize` of node:v8 writes them. */
  | { readonly kind: 'accounts'; readonly pieces: Pieces<AccountRows> }
  | { readonly kind: 'fault'; readonly message: string; readonly code: string | undefined }
  | { readonly kind: 'report'; readonly message: string; readonly fields: ReportFields }

type Pieces<Lists> = { readonly [Name in keyof Lists]: readonly Uint8Array[] }

export type ReportFields = Readonly<Record<string, unknown>>
