import type { IncomingMessage } from 'node:http'

/**
 * The time that the body of a request has to arrive. It does not run while the gateway does not read:
 * before it has asked for the body, and while it takes nothing of what has come. Node's own limit
 * does run then, and the adapter has none.
 */
export class BodyTime {
  readonly #request: IncomingMessage
  readonly #limit: number
  #asked: number | undefined

  /** `limit`: in milliseconds. */
  constructor(request: IncomingMessage, limit: number) {
    this.#request = request
    this.#limit = limit
  }

  /** The gateway begins to read. */
  ask(): void {
    this.#asked ??= performance.now()
  }

  /** Milliseconds that are left at least. */
  get left(): number {
    const { readableLength, readableHighWaterMark } = this.#request
    // What has come lies in front of the gateway, and Node has stopped reading on.
    const isHeld = readableLength >= readableHighWaterMark
    if (this.#asked === undefined || isHeld) return this.#limit
    return this.#asked + this.#limit - performance.now()
  }
}
