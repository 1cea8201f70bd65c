import type { NativeApi } from '../../core/capability.ts'
import type { EmbedCall } from '../../core/embeddings.ts'
import type { EmbedEndpoint, NativeEmbedCall, NativeEmbedEndpoint } from '../../core/endpoints.ts'
import type { Model } from '../../core/provider.ts'
import type { ErrorForm } from '../../core/reply.ts'
import type { ModelRoute } from '../../core/route.ts'
import type { Usage } from '../../core/usage.ts'
import type { ReceivedRequest } from '../serve/received-request.ts'

/** One API for embeddings that the gateway offers to clients. */
export interface EmbedDoor {
  /** The paths that are POSTed to. */
  readonly paths: readonly string[]
  /** The form of errors and headers; by default that of the OpenAI API. */
  readonly form?: ErrorForm
  /** Reads a request. Throws LM-1001 with the field at fault, as this API names it. */
  read(received: ReceivedRequest): Promise<EmbedDoorCall> | EmbedDoorCall
}

/** One request for embeddings in the API of its client. */
export interface EmbedDoorCall {
  /** The id of the model that the client names. */
  readonly model: string
  /** The items by their settings: at least one set, each with at least one item. */
  readonly sets: readonly EmbedCall[]
  /** The place in the request of each item of all sets; absent when they are in order. */
  readonly places?: readonly number[]
  /** The request itself, for links that speak its API. */
  readonly native?: NativeEmbedCall & { readonly api: NativeApi }
  readonly writing: VectorWriting
  /** Reads the request in another way where its route needs that; undefined where this one serves. */
  readAgain?(route: ModelRoute): Promise<EmbedDoorCall> | undefined
  /**
   * Lists the fields that a link which does not speak the API drops, as the client's API names them. Throws
   * `UntranslatableError` when the link cannot express the request at all.
   */
  listDropped(link: Model): readonly string[]
}

/** How an API writes an answer: the text around each vector, and the end of the body. */
export interface VectorWriting {
  before(index: number): string
  readonly after: string
  end(served: ServedVectors): string
}

export interface ServedVectors {
  /** The client-facing id of the model that served. */
  readonly model: string
  readonly usage: Usage
}

/** Finds the endpoint for a request at a link that speaks its API; undefined where it is translated. */
export function findNative(
  { native }: Pick<EmbedDoorCall, 'native'>,
  link: Model,
): NativeEmbedEndpoint | undefined {
  return native && getEndpoint(link).native?.[native.api]
}

/** A route for embeddings has only links with an embed endpoint. */
export function getEndpoint(link: Model): EmbedEndpoint {
  return link.embed as EmbedEndpoint
}
