import { type UpstreamFailure, UpstreamFault } from '../core/failure.ts'
import type { ByteSource, UnreadBytes } from '../core/ports.ts'
import { ByteList } from './byte-list.ts'

/** Maximum number of bytes to join for one read, about one packet. Longer bodies are read uncopied. */
const maxJoinBytes = 64 * 1024

export interface QueueOptions {
  /** Called once when the reader needs no more bytes or has fallen too far behind. */
  readonly onRelease?: (how: 'cancel' | 'drain') => void
  readonly unread?: UnreadBytes | undefined
}

/**
 * A queue of bytes from a sender that does not wait to one reader. When more than `limit` bytes are
 * unread, the reader is too slow and the queue fails as `slow-client`.
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
    // A packet often contains several pieces; the reader gets all pieces of this turn at once.
    if (this.#waiting && this.#bytes.length === 0) queueMicrotask(() => this.#deliver())
    this.#bytes.push(bytes)
    this.#unread?.add(bytes.length)
    if (this.#bytes.length > this.#limit && !this.#waiting) this.#overflow()
  }

  /** Ends the queue. Waiting bytes are still read. */
  end(): void {
    if (this.#state !== 'open') return
    this.#state = 'ended'
    if (this.#bytes.length === 0) this.#takeWaiting()?.resolve(undefined)
  }

  /** Fails the queue. Waiting bytes are still read, then the failure. */
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

  /** Fails the queue and frees its memory at once: the reader will not catch up. */
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
