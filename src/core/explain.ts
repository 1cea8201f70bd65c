import type { Authenticator } from './admission.ts'
import type { RequestOrigin } from './origin.ts'
import type { CancelSignal } from './ports.ts'

/** A request of the data plane that is explained, and not served. */
export interface ExplainedRequest {
  /** The path of its route, with its query if it has one. */
  readonly path: string
  readonly body: Uint8Array
  /** What names its session, in place of the header; undefined without one. */
  readonly session?: string | undefined
  /** What its metadata header would hold, as JSON text; undefined without one. */
  readonly metadata?: string | undefined
  /** Identifies its sender. */
  readonly authenticator: Authenticator
  /** Of the request that asks for the explanation. */
  readonly origin: RequestOrigin & { readonly signal: CancelSignal }
}

/**
 * Explains how a request would be handled now. Resolves to the JSON text of the explanation; rejects with
 * LM-1001 for a path that no service has. Counts nothing, and sends nothing.
 */
export type Explain = (request: ExplainedRequest) => Promise<string>
