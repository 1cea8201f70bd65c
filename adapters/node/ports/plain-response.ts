import { Response } from '@whatwg-node/fetch'
import { headerEntries, isBuffered, type ResponseParts } from '../../../src/core/ports.ts'
import type { MakeResponse } from '../../../src/index.ts'
import { toWebStream } from '../../../src/wire/convert-stream.ts'
import { delegateToFull } from './delegate.ts'

/**
 * A response that the host writes directly from its parts. For other code it behaves like the adapter's
 * `Response`, which it creates on the first access to any other member. Creating one for every small
 * response would cost as much as routing the request (bench scenario `json32`).
 */
export class PlainResponse {
  readonly parts: ResponseParts
  #full: Response | undefined

  constructor(parts: ResponseParts) {
    this.parts = parts
  }

  get full(): Response {
    this.#full ??= createFullResponse(this.parts)
    return this.#full
  }

  get status(): number {
    return this.parts.status
  }
}

function createFullResponse(parts: ResponseParts): Response {
  const { status, body } = parts
  const read = body === null || isBuffered(body) ? body : toWebStream(body)
  return new Response(read as BodyInit | null, { status, headers: headerEntries(parts) })
}

delegateToFull(PlainResponse.prototype, [
  'ok',
  'statusText',
  'headers',
  'body',
  'bodyUsed',
  'type',
  'url',
  'redirected',
  'text',
  'json',
  'arrayBuffer',
  'blob',
  'formData',
  'clone',
])

/** Creates the responses of the gateway on Node. */
export const nodeResponse: MakeResponse = (parts) =>
  // It has every member of a `Response`; the delegated ones are missing from its type.
  new PlainResponse(parts) as unknown as Response
