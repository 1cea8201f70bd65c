import type { BufferAccount, Buffers } from './buffers.ts'
import { FifoSemaphore } from './fifo-semaphore.ts'

/** Bodies over this many bytes are large: only a few are held at once, and one is parsed at a time. */
export const largeBodyBytes = 1024 * 1024

/**
 * Limits the request bodies in memory. A body waits, unread, until the buffers have room for it; a large
 * one also waits while too many other large ones are held. When no other body of its size class is held,
 * it does not wait for room, or it could wait forever.
 */
export class BodyLimiter {
  readonly buffers: Buffers
  readonly small: FifoSemaphore
  readonly large: FifoSemaphore
  readonly parser: FifoSemaphore = new FifoSemaphore((held) => held === 0)

  /** `maxLarge` returns the maximum number of large bodies. It may change at any time. */
  constructor(buffers: Buffers, maxLarge: () => number) {
    this.buffers = buffers
    const hasRoom = (held: number, bytes: number) => held === 0 || buffers.hasRoomFor(bytes)
    this.small = new FifoSemaphore(hasRoom)
    this.large = new FifoSemaphore((held, bytes) => held < maxLarge() && hasRoom(held, bytes))
    buffers.onFreed(() => this.admitWaiting())
  }

  /** Call this after the limits have changed. */
  admitWaiting(): void {
    this.small.admitWaiting()
    this.large.admitWaiting()
  }

  /** Opens a slot for the body of one request. */
  openSlot(account: BufferAccount): BodySlot {
    return new BodySlot(this, account)
  }
}

/** The slot of one body, from before it is read until its bytes are no longer needed. */
export class BodySlot {
  readonly #limiter: BodyLimiter
  readonly #account: BufferAccount
  #bytes = 0
  #semaphore: FifoSemaphore | undefined
  #isParsing = false
  #isReleased = false

  constructor(limiter: BodyLimiter, account: BufferAccount) {
    this.#limiter = limiter
    this.#account = account
  }

  get isLarge(): boolean {
    return this.#semaphore === this.#limiter.large
  }

  /**
   * Reserves memory for `bytes` bytes in total, which may be more than before. Returns undefined on
   * success, else a promise that resolves when the memory is reserved or the slot released.
   */
  reserve(bytes: number): Promise<void> | undefined {
    const { small, large } = this.#limiter
    const semaphore = bytes > largeBodyBytes ? large : small
    return semaphore.acquire({
      bytes: bytes - this.#bytes,
      onAcquire: () => {
        const before = this.#semaphore
        this.#semaphore = semaphore
        this.#reserveBytes(bytes)
        before?.release()
      },
      isCancelled: () => this.#isReleased,
    })
  }

  /** Returns the rest of the reservation: the body has arrived and has this many bytes. */
  shrinkTo(bytes: number): void {
    if (!this.#isReleased) this.#reserveBytes(bytes)
  }

  /** Returns undefined when the body may be parsed now, else a promise that resolves when it may. */
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

  /** Ends the parsing, so that the next large body may be parsed. */
  endParsing(): void {
    if (!this.#isParsing) return
    this.#isParsing = false
    this.#limiter.parser.release()
  }

  /** Releases the slot and its memory. Only the first call counts. */
  release(): void {
    if (this.#isReleased) return
    this.#isReleased = true
    this.endParsing()
    this.#reserveBytes(0)
    this.#semaphore?.release()
    this.#semaphore = undefined
    // A cancelled wait may have blocked those behind it.
    this.#limiter.admitWaiting()
  }

  #reserveBytes(bytes: number): void {
    const change = bytes - this.#bytes
    this.#bytes = bytes
    this.#account.addBody(change)
  }
}
