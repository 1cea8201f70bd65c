import type { DatabaseStore } from '../../../src/store/database.ts'
import type { AccountRows, StoreSettings } from '../../../src/store/index.ts'

/** What the thread of the store is started with. */
export interface ThreadSettings extends Pick<StoreSettings, 'path' | 'token'> {
  /** Milliseconds that a call may go on trying while the database is locked. */
  readonly patience: number
}

/** What the thread can be asked for, one call at a time. */
export type StoreMethod = 'open' | 'close' | keyof DatabaseStore

export interface StoreCall {
  readonly method: StoreMethod
  readonly args: readonly unknown[]
}

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
  | { readonly kind: 'fault'; readonly message: string }
  | { readonly kind: 'report'; readonly message: string; readonly fields: ReportFields }

type Pieces<Lists> = { readonly [Name in keyof Lists]: readonly Uint8Array[] }

export type ReportFields = Readonly<Record<string, unknown>>
