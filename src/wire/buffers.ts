import { InFlightSet } from './in-flight-set.ts'

/**
 * The bytes that the process holds at the moment for others: bodies of requests, what upstreams have
 * sent and no client has read, what waits for slow clients. Together they stay under one limit: over
 * it the slowest reader, which is the one with the most unread bytes, ends first.
 */
export class Buffers {
  readonly #limit: () => number
  readonly #accounts = new InFlightSet<BufferAccount>()
  #bytes = 0
  #shedding = false
  #onFreed: () => void = () => {}

  /** `limit`: in bytes. It may change at any time. */
  constructor(limit: () => number) {
    this.#limit = limit
  }

  get bytes(): number {
    return this.#bytes
  }

  hasRoomFor(bytes: number): boolean {
    return this.#bytes + bytes <= this.#limit()
  }

  /** `listener` is called whenever there is more room than before. */
  onFreed(listener: () => void): void {
    this.#onFreed = listener
  }

  /** A share for one exchange; `end` is called at most once, when it must end to make room. */
  openAccount(end: () => void): BufferAccount {
    return new BufferAccount(this, end)
  }

  /** For shares: one has been opened. Returns the way to take it out again. */
  register(share: BufferAccount): () => void {
    return this.#accounts.add(share)
  }

  /** For shares: one holds so many bytes more than before, or less. */
  adjust(bytes: number): void {
    this.#bytes += bytes
    if (bytes < 0) this.#onFreed()
    else if (this.#bytes > this.#limit() && !this.#shedding) {
      this.#shedding = true
      // Not at once: what has grown is in the middle of something.
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

/** What one exchange holds. Once closed it holds nothing, whatever is still added. */
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

  /** Bytes that wait for the client, or for what must come before them. */
  get unread(): number {
    return this.#unread
  }

  /** So many more bytes wait, or so many less. */
  addUnread(bytes: number): void {
    if (this.#closed || bytes === 0) return
    this.#unread += bytes
    this.#buffers.adjust(bytes)
  }

  /** The same of the request's own body, for which nobody is too slow. */
  addBody(bytes: number): void {
    if (this.#closed || bytes === 0) return
    this.#body += bytes
    this.#buffers.adjust(bytes)
  }

  /** A part of the unread bytes that is counted by itself. */
  openCounter(): UnreadCounter {
    return new UnreadCounter(this)
  }

  /** Gives everything back, and ends the exchange. */
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

/** The unread bytes of one queue. */
export class UnreadCounter {
  readonly #account: BufferAccount
  #bytes = 0

  constructor(share: BufferAccount) {
    this.#account = share
  }

  add(bytes: number): void {
    this.#bytes += bytes
    this.#account.addUnread(bytes)
  }

  /** Gives back all that has been added. */
  release(): void {
    this.add(-this.#bytes)
  }
}
