/** Bodies up to this many bytes are sent directly and stay in memory until the response ends. */
const maxShortBytes = 64 * 1024

/** True for a body that should be sent as a `ReleasingBody`. */
export const isLongBody = (body: Uint8Array | undefined): body is Uint8Array =>
  body !== undefined && body.length > maxShortBytes

/**
 * A request body that drops its reference to the bytes when they are read. undici would keep the bytes
 * until the end of the response, which can take minutes for a stream.
 */
export class ReleasingBody implements Iterable<Uint8Array> {
  #bytes: Uint8Array | undefined

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes
  }

  [Symbol.iterator](): Iterator<Uint8Array, undefined> {
    return { next: () => this.#next() }
  }

  #next(): IteratorResult<Uint8Array, undefined> {
    const value = this.#bytes
    this.#bytes = undefined
    return value ? { value, done: false } : { value: undefined, done: true }
  }
}
