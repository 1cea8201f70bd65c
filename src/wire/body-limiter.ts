import type { BufferAccount, Buffers } from './buffers.ts'
import { FifoSemaphore } from './fifo-semaphore.ts'

/** A longer body is large: a few of them are read and held at once, and one is parsed at a time. */
export const largeBodyBytes = 1024 * 1024

/**
 * Lets the bodies of requests in. A small one waits while the buffers have no room for it, a large one
 * also while too many others are inside; what waits is not read. The only one of its size is let in
 * whatever the buffers hold, or it might wait for ever.
 */
export class BodyLimiter {
  readonly buffers: Buffers
  readonly small: FifoSemaphore
  readonly large: FifoSemaphore
  readonly parser: FifoSemaphore = new FifoSemaphore((inside) => inside === 0)

  /** `mostLarge`: how many large bodies may be inside. It may change at any time. */
  constructor(buffers: Buffers, maxLarge: () => number) {
    this.buffers = buffers
    const fits = (inside: number, bytes: number) => inside === 0 || buffers.hasRoomFor(bytes)
    this.small = new FifoSemaphore(fits)
    this.large = new FifoSemaphore((inside, bytes) => inside < maxLarge() && fits(inside, bytes))
    buffers.onFreed(() => this.admitWaiting())
  }

  /** To be called when the limits have changed. */
  admitWaiting(): void {
    this.small.admitWaiting()
    this.large.admitWaiting()
  }

  /** A place for the body of one request. */
  openSlot(share: BufferAccount): BodySlot {
    return new BodySlot(this, share)
  }
}

/** The place of one body, from before it is read until its bytes are not needed any more. */
export class BodySlot {
  readonly #limiter: BodyLimiter
  readonly #account: BufferAccount
  #bytes = 0
  #semaphore: FifoSemaphore | undefined
  #isParsing = false
  #isReleased = false

  constructor(intake: BodyLimiter, share: BufferAccount) {
    this.#limiter = intake
    this.#account = share
  }

  get isLarge(): boolean {
    return this.#semaphore === this.#limiter.large
  }

  /**
   * Asks for room for so many bytes in all, which may be more than before. Undefined when there is,
   * else a promise that resolves when there is, or when the place has ended.
   */
  reserve(bytes: number): Promise<void> | undefined {
    const { small, large } = this.#limiter
    const room = bytes > largeBodyBytes ? large : small
    return room.acquire({
      bytes: bytes - this.#bytes,
      onAcquire: () => {
        const before = this.#semaphore
        this.#semaphore = room
        this.#reserveBytes(bytes)
        before?.release()
      },
      isCancelled: () => this.#isReleased,
    })
  }

  /** The body is there, and no longer than this: the rest of its room is given back. */
  shrinkTo(bytes: number): void {
    if (!this.#isReleased) this.#reserveBytes(bytes)
  }

  /** Undefined when the body may be parsed, else a promise that resolves when it may. */
  startParsing(): Promise<void> | undefined {
    if (!this.isLarge) return undefined
    const enter = () => {
      this.#isParsing = true
    }
    return this.#limiter.parser.acquire({
      bytes: 0,
      onAcquire: enter,
      isCancelled: () => this.#isReleased,
    })
  }

  /** What it has been parsed into is not needed any more. */
  endParsing(): void {
    if (!this.#isParsing) return
    this.#isParsing = false
    this.#limiter.parser.release()
  }

  /** Gives everything back. Only the first call counts. */
  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.endParsing()
    this.#reserveBytes(0)
    this.#semaphore?.release()
    this.#semaphore = undefined
    // It may have been the one that the others waited behind.
    this.#limiter.admitWaiting()
  }

  #reserveBytes(bytes: number): void {
    const change = bytes - this.#bytes
    this.#bytes = bytes
    this.#account.addBody(change)
  }
}
