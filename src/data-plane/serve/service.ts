import type { UsageEstimate } from '../../core/admission.ts'
import type { Api } from '../../core/capability.ts'
import type { DialectRequest } from '../../core/endpoints.ts'
import type { GatewayError } from '../../core/errors.ts'
import type { Model } from '../../core/provider.ts'
import type { Reply } from '../../core/reply.ts'
import type { ModelRoute } from '../../core/route.ts'
import type { AuthenticatedRequest, RequestContext } from '../request/context.ts'

/** One API of the data plane. */
export interface Service {
  readonly api: Api
  /** Reads a request and finds its route, or throws the error that the client gets. Counts nothing. */
  prepare(request: Request, context: RequestContext): Promise<PreparedRequest>
  /** Prepares a request and serves it. Rejects with the error that the client gets. */
  readonly serve: Handler
}

export type Handler = (request: Request, context: RequestContext) => Promise<Reply>

/** A request that has been read and whose route is known. Nothing of it has been counted, and nothing sent. */
export interface PreparedRequest {
  readonly authenticated: AuthenticatedRequest
  readonly route: ModelRoute
  /** Checks the request against the whole chain; LM-1001 or LM-2xxx. */
  check(): void
  /**
   * Lists the fields that a link would drop, as dotted paths. Throws `UntranslatableError` when the link
   * cannot express the request at all.
   */
  listDropped(link: Model): readonly string[]
  estimate(): UsageEstimate
  /** Returns the error, LM-2005 or LM-2006, of an admitted request whose images are not fetched. */
  findFetchError?(): GatewayError | undefined
  /**
   * Writes the first call to a link, once `check` and `listDropped` have passed. Returns undefined when
   * images would have to be fetched before.
   */
  buildRequest(link: Model): DialectRequest | undefined
}
