import type { IncomingMessage } from 'node:http'
import { Request } from '@whatwg-node/fetch'

/**
 * The `Request` that the adapter makes. It reads a body that has arrived with its head, which most do, in
 * one step; the adapter's own class would add listeners for it (bench scenario `json32`).
 */
export class AdapterRequest extends Request {
  /** The request of Node, if its body has arrived. */
  readonly #arrived: IncomingMessage | undefined
  #bytes: Promise<ArrayBuffer> | undefined

  constructor(input: RequestInfo | URL, init: RequestInit = {}) {
    super(input, init)
    // The adapter passes the request of Node, which the type omits; none for GET and HEAD.
    const incoming = init.body as unknown as IncomingMessage | undefined
    this.#arrived = incoming?.complete ? incoming : undefined
  }

  override arrayBuffer(): Promise<ArrayBuffer> {
    if (this.#bytes) return this.#bytes
    const arrived = this.#arrived
    // Other methods have started to read.
    if (arrived?.readableFlowing !== null) return super.arrayBuffer()
    // Like that of the adapter's class, the result is a view, which saves a copy, and can be read again.
    this.#bytes = Promise.resolve(arrived.read() ?? new ArrayBuffer(0))
    return this.#bytes
  }
}
