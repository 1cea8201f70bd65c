import type { Millis, NanoUsd } from './ids.ts'
import type { RequestOrigin } from './origin.ts'
import type { CancelSignal } from './ports.ts'

/** What one request with one credential has shown. Null: not known. */
export interface CheckedCredential {
  /** The variable that holds the credential, or the cloud that provides it. */
  readonly credential: string
  /** The provider has answered, whatever it said. */
  readonly reachable: boolean | null
  /** The provider accepts the credential. */
  readonly authenticated: boolean | null
  /** The provider has the model. */
  readonly modelKnown: boolean | null
  /** From the beginning of the request to its first content; of a whole answer, to its end. */
  readonly firstToken: Millis | null
  /** What the request has cost; null where nothing is charged, and where no price is configured. */
  readonly cost: NanoUsd | null
  /** Why the request failed, without secrets. */
  readonly error: string | null
}

export interface CheckedProvider {
  readonly provider: string
  /** The model that was asked, by its client-facing id. */
  readonly model: string
  /** In the order of the configuration. */
  readonly credentials: readonly CheckedCredential[]
}

export interface CheckQuestion {
  readonly provider: string
  /** By default the first one of the provider. */
  readonly model?: string | undefined
  /** Of the request that asks for the check. */
  readonly origin: RequestOrigin & { readonly signal: CancelSignal }
}

/**
 * Sends the smallest request to a model, once with each credential of its provider. Counts nothing, but costs what
 * the vendor charges. Undefined for an unknown provider; rejects with LM-1001 for a model that cannot be asked.
 */
export type CheckProvider = (question: CheckQuestion) => Promise<CheckedProvider | undefined>
