import type { IncomingMessage } from 'node:http'

/**
 * The time that the body of a request has to arrive. It does not run while the gateway does not read:
 * before it has asked for the body, and while it takes nothing of what has come. Node's own limit
 * does run then, and the adapter has none.
 */
export class BodyDeadline {
  readonly #request: IncomingMessage
  readonly #limit: number
  #startedAt: number | undefined

  /** `limit`: in milliseconds. */
  constructor(request: IncomingMessage, limit: number) {
    this.#request = request
    this.#limit = limit
  }

  /** The gateway begins to read. */
  start(): void {
    this.#startedAt ??= performance.now()
  }

  /** Milliseconds that are left at least. */
  get remaining(): number {
    const { readableLength, readableHighWaterMark } = this.#request
    // What has come lies in front of the gateway, and Node has stopped reading on.
    const isHeld = readableLength >= readableHighWaterMark
    if (this.#startedAt === undefined || isHeld) return this.#limit
    return this.#startedAt + this.#limit - performance.now()
  }
}
