/** Shorter bodies are sent as they are, and stay in memory for as long as their exchange lasts. */
const maxShortBytes = 64 * 1024

export const isLongBody = (body: Uint8Array | undefined): body is Uint8Array =>
  body !== undefined && body.length > maxShortBytes

/**
 * The body of one request, which lets go of its bytes when it is asked for them: undici would keep them
 * until the end of the answer, which a stream may put off for minutes.
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
