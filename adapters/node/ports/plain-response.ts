import { Response } from '@whatwg-node/fetch'
import { headerEntries, isBuffered, type ResponseParts } from '../../../src/core/ports.ts'
import type { MakeResponse } from '../../../src/index.ts'
import { toWebStream } from '../../../src/wire/convert-stream.ts'

/**
 * An answer that the host writes out from its parts. To everybody else it is the adapter's
 * `Response`, which is made when somebody looks into it: hardly ever, and it costs a small answer
 * as much as all of its routing.
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

const members: readonly (keyof Response)[] = [
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
]

for (const name of members) {
  Object.defineProperty(PlainResponse.prototype, name, {
    get(this: PlainResponse) {
      const value: unknown = this.full[name]
      return typeof value === 'function' ? value.bind(this.full) : value
    },
  })
}

/** What the gateway makes its answers with, under Node. */
export const nodeResponse: MakeResponse = (parts) =>
  // It has every member of a `Response`; those that are delegated, its declaration does not show.
  new PlainResponse(parts) as unknown as Response
