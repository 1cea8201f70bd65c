import type { Bytes } from '../core/ids.ts'
import { InFlightSet } from './in-flight-set.ts'

/**
 * Counts all bytes that the process buffers: request bodies, unread upstream responses, and bytes that
 * wait for slow clients. The sum stays under one limit. Above it, the account with the most unread
 * bytes, which belongs to the slowest reader, is evicted first.
 */
export class Buffers {
  readonly #limit: () => Bytes
  readonly #accounts = new InFlightSet<BufferAccount>()
  #bytes = 0
  #shedding = false
  #onFreed: () => void = () => {}

  /** `limit` may change at any time. */
  constructor(limit: () => Bytes) {
    this.#limit = limit
  }

  get bytes(): Bytes {
    return this.#bytes
  }

  hasRoomFor(bytes: number): boolean {
    return this.#bytes + bytes <= this.#limit()
  }

  /** Sets the listener that is called whenever bytes are freed. */
  onFreed(listener: () => void): void {
    this.#onFreed = listener
  }

  /** Opens an account for one request. `end` is called at most once, when the account is evicted. */
  openAccount(end: () => void): BufferAccount {
    return new BufferAccount(this, end)
  }

  /** For accounts: registers an account. Returns the function that removes it. */
  register(account: BufferAccount): () => void {
    return this.#accounts.add(account)
  }

  /** For accounts: changes the sum by `bytes`, which may be negative. */
  adjust(bytes: number): void {
    this.#bytes += bytes
    if (bytes < 0) this.#onFreed()
    else if (this.#bytes > this.#limit() && !this.#shedding) {
      this.#shedding = true
      // Deferred: the account that has grown is in the middle of an operation.
      queueMicrotask(() => this.#shed())
    }
  }

  #shed(): void {
    this.#shedding = false
    while (this.#bytes > this.#limit()) {
      const [first, ...others] = this.#accounts.all()
      const slowest = others.reduce((a, b) => (b.unread > (a?.unread ?? 0) ? b : a), first)
      if (!slowest || slowest.unread === 0) return
      slowest.end()
    }
  }
}

/** The buffered bytes of one request. A closed account counts nothing that is added later. */
export class BufferAccount {
  readonly #buffers: Buffers
  readonly #onEvict: () => void
  readonly #unregister: () => void
  #unread = 0
  #body = 0
  #closed = false

  constructor(buffers: Buffers, end: () => void) {
    this.#buffers = buffers
    this.#onEvict = end
    this.#unregister = buffers.register(this)
  }

  /** Number of bytes that wait to be read by the client or the gateway. */
  get unread(): number {
    return this.#unread
  }

  /** Changes the number of unread bytes by `bytes`, which may be negative. */
  addUnread(bytes: number): void {
    if (this.#closed || bytes === 0) return
    this.#unread += bytes
    this.#buffers.adjust(bytes)
  }

  /** Changes the number of bytes of the request body, which do not count for eviction. */
  addBody(bytes: number): void {
    if (this.#closed || bytes === 0) return
    this.#body += bytes
    this.#buffers.adjust(bytes)
  }

  /** Opens a separate counter for a part of the unread bytes. */
  openCounter(): UnreadCounter {
    return new UnreadCounter(this)
  }

  /** Evicts the account: frees its bytes and ends the request. */
  end(): void {
    this.close()
    this.#onEvict()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#unregister()
    const held = this.#unread + this.#body
    this.#unread = 0
    this.#body = 0
    if (held !== 0) this.#buffers.adjust(-held)
  }
}

/** Counts the unread bytes of one queue. */
export class UnreadCounter {
  readonly #account: BufferAccount
  #bytes = 0

  constructor(account: BufferAccount) {
    this.#account = account
  }

  add(bytes: number): void {
    this.#bytes += bytes
    this.#account.addUnread(bytes)
  }

  /** Uncounts all bytes that were added. */
  release(): void {
    this.add(-this.#bytes)
  }
}
