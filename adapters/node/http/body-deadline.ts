import type { IncomingMessage } from 'node:http'

/**
 * The time limit for the body of a request to arrive. The clock stops while the gateway itself does not
 * read: before it starts, and while the received bytes wait for it. Node's own limit keeps running
 * during these pauses, and the adapter has no limit.
 */
export class BodyDeadline {
  readonly #request: IncomingMessage
  readonly #limit: number
  #startedAt: number | undefined

  /** `limit` is in milliseconds. */
  constructor(request: IncomingMessage, limit: number) {
    this.#request = request
    this.#limit = limit
  }

  /** Starts the clock, at the first read by the gateway. */
  start(): void {
    this.#startedAt ??= performance.now()
  }

  /** Lower bound of the time left, in milliseconds. */
  get remaining(): number {
    const { readableLength, readableHighWaterMark } = this.#request
    // The buffer is full: Node has paused the socket until the gateway reads.
    const isHeld = readableLength >= readableHighWaterMark
    if (this.#startedAt === undefined || isHeld) return this.#limit
    return this.#startedAt + this.#limit - performance.now()
  }
}
