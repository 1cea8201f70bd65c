import { type UpstreamFailure, UpstreamFault } from '../core/failure.ts'
import type { ByteSource, UnreadBytes } from '../core/ports.ts'
import { ByteList } from './byte-list.ts'

/** As much as one packet brings. Of a long answer the pieces come one by one, not as a copy. */
const maxJoinBytes = 64 * 1024

export interface QueueOptions {
  /** Called once when the reader needs no more, or has fallen too far behind. */
  readonly onRelease?: (how: 'cancel' | 'drain') => void
  readonly unread?: UnreadBytes | undefined
}

/**
 * Bytes on their way from a sender that does not wait to one reader. What waits unread is capped:
 * over `limit` bytes the reader is too slow, and the exchange ends as `slow-client`.
 */
export class BoundedQueue implements ByteSource {
  readonly #limit: number
  readonly #onRelease: NonNullable<QueueOptions['onRelease']>
  readonly #unread: UnreadBytes | undefined
  readonly #bytes = new ByteList()
  #state: 'open' | 'ended' | 'released' | UpstreamFault = 'open'
  #waiting: Waiting | undefined

  constructor(limit: number, { onRelease = () => {}, unread }: QueueOptions = {}) {
    this.#limit = limit
    this.#onRelease = onRelease
    this.#unread = unread
  }

  push(bytes: Uint8Array): void {
    if (this.#state !== 'open' || bytes.length === 0) return
    // A packet often holds several pieces: the reader gets all that this turn brings, at once.
    if (this.#waiting && this.#bytes.length === 0) queueMicrotask(() => this.#deliver())
    this.#bytes.push(bytes)
    this.#unread?.add(bytes.length)
    if (this.#bytes.length > this.#limit && !this.#waiting) this.#overflow()
  }

  /** The sender is done. What waits is still read. */
  end(): void {
    if (this.#state !== 'open') return
    this.#state = 'ended'
    if (this.#bytes.length === 0) this.#takeWaiting()?.resolve(undefined)
  }

  /** The sender has failed. What waits is still read, then the failure. */
  fail(failure: UpstreamFailure): void {
    if (this.#state !== 'open') return
    const fault = new UpstreamFault(failure)
    this.#state = fault
    if (this.#bytes.length === 0) this.#takeWaiting()?.reject(fault)
  }

  read(): Promise<Uint8Array | undefined> {
    if (this.#bytes.length > 0) return Promise.resolve(this.#take())
    if (this.#state instanceof UpstreamFault) return Promise.reject(this.#state)
    if (this.#state !== 'open') return Promise.resolve(undefined)
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
    })
  }

  cancel(): void {
    this.#release('cancel')
  }

  drain(): void {
    this.#release('drain')
  }

  #deliver(): void {
    // The reader may have left in between.
    this.#takeWaiting()?.resolve(this.#take())
  }

  /** Nobody will catch up with what waits, so its memory is given back at once. */
  #overflow(): void {
    this.#clear()
    this.fail({ kind: 'slow-client' })
    this.#onRelease('cancel')
  }

  #release(how: 'cancel' | 'drain'): void {
    const wasOpen = this.#state === 'open'
    this.#state = 'released'
    this.#clear()
    this.#takeWaiting()?.resolve(undefined)
    if (wasOpen) this.#onRelease(how)
  }

  #take(): Uint8Array {
    const bytes = this.#bytes.take(maxJoinBytes)
    this.#unread?.add(-bytes.length)
    return bytes
  }

  #clear(): void {
    this.#bytes.clear()
    this.#unread?.release()
  }

  #takeWaiting(): Waiting | undefined {
    const waiting = this.#waiting
    this.#waiting = undefined
    return waiting
  }
}

interface Waiting {
  readonly resolve: (bytes: Uint8Array | undefined) => void
  readonly reject: (fault: UpstreamFault) => void
}
