import type { UsageEstimate } from '../../core/admission.ts'
import type { NamedSession, RouteAffinity } from '../../core/affinity.ts'
import type { DialectRequest } from '../../core/endpoints.ts'
import type { GatewayError } from '../../core/errors.ts'
import type { BufferedBody } from '../../core/ports.ts'
import type { Model } from '../../core/provider.ts'
import type { ModelRoute } from '../../core/route.ts'
import type { TimeSlice } from '../../wire/time-slice.ts'
import type { KeptAnswer } from '../cache/use.ts'
import type { AuthenticatedRequest } from '../request/authenticated.ts'

/** A request whose sender is known and whose body has arrived. */
export interface ArrivedRequest {
  readonly authenticated: AuthenticatedRequest
  readonly request: Request
  readonly bytes: Uint8Array
  /** For work on a large body in steps. */
  readonly slice: TimeSlice
}

/** A request that has been read and whose route is known. Nothing of it has been counted, and nothing sent. */
export abstract class PreparedRequest implements ArrivedRequest {
  readonly authenticated: AuthenticatedRequest
  readonly request: Request
  readonly bytes: Uint8Array
  readonly slice: TimeSlice
  readonly route: ModelRoute

  constructor({ authenticated, request, bytes, slice }: ArrivedRequest, route: ModelRoute) {
    this.authenticated = authenticated
    this.request = request
    this.bytes = bytes
    this.slice = slice
    this.route = route
  }

  /** True when the work on the request must yield to other requests. */
  get isHeavy(): boolean {
    return false
  }

  /** The media type of the stream that the client asks for, where it is not that of server-sent events. */
  get streamType(): string | undefined {
    return undefined
  }

  /** Checks the request against the whole chain; LM-1001 or LM-2xxx. A promise where that takes long. */
  abstract check(): void | Promise<void>

  /** Does the long part of `listDropped` and `buildRequest` for a link, in steps; undefined where it is short. */
  prepareFor(_link: Model): Promise<void> | undefined {
    return undefined
  }

  /**
   * Lists the fields that a link would drop, as dotted paths. Throws `UntranslatableError` when the link
   * cannot express the request at all.
   */
  abstract listDropped(link: Model): readonly string[]

  abstract estimate(): UsageEstimate

  /** Does the long part of `estimate` for all links, in steps; undefined where it is short. */
  prepareEstimate(): Promise<void> | undefined {
    return undefined
  }

  measureContext(): number | undefined {
    return undefined
  }

  /** Finds the session that the request belongs to; undefined where none is named. */
  nameSession(_affinity: RouteAffinity): NamedSession | undefined {
    return undefined
  }

  /** Returns the error, LM-2005 or LM-2006, of an admitted request whose images are not fetched. */
  findFetchError(): GatewayError | undefined {
    return undefined
  }

  /**
   * Writes the first call to a link, once `check` and `listDropped` have passed. Returns undefined when
   * images would have to be fetched before.
   */
  abstract buildRequest(link: Model): DialectRequest | undefined

  /** Returns an answer to an equal request in the form that this one asks for. */
  convertAnswer(kept: KeptAnswer): BufferedBody | Promise<BufferedBody> {
    return kept.body
  }
}
