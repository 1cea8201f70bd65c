import { InFlightSet } from './in-flight-set.ts'

/**
 * The bytes that the process holds at the moment for others: bodies of requests, what upstreams have
 * sent and no client has read, what waits for slow clients. Together they stay under one limit: over
 * it the slowest reader, which is the one with the most unread bytes, ends first.
 */
export class Buffers {
  readonly #limit: () => number
  readonly #shares = new InFlightSet<Share>()
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
  open(end: () => void): Share {
    return new Share(this, end)
  }

  /** For shares: one has been opened. Returns the way to take it out again. */
  joined(share: Share): () => void {
    return this.#shares.add(share)
  }

  /** For shares: one holds so many bytes more than before, or less. */
  changed(bytes: number): void {
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
      const [first, ...others] = this.#shares.all()
      const slowest = others.reduce((a, b) => (b.unread > (a?.unread ?? 0) ? b : a), first)
      if (!slowest || slowest.unread === 0) return
      slowest.end()
    }
  }
}

/** What one exchange holds. Once closed it holds nothing, whatever is still added. */
export class Share {
  readonly #buffers: Buffers
  readonly #end: () => void
  readonly #leave: () => void
  #unread = 0
  #body = 0
  #closed = false

  constructor(buffers: Buffers, end: () => void) {
    this.#buffers = buffers
    this.#end = end
    this.#leave = buffers.joined(this)
  }

  /** Bytes that wait for the client, or for what must come before them. */
  get unread(): number {
    return this.#unread
  }

  /** So many more bytes wait, or so many less. */
  addUnread(bytes: number): void {
    if (this.#closed || bytes === 0) return
    this.#unread += bytes
    this.#buffers.changed(bytes)
  }

  /** The same of the request's own body, for which nobody is too slow. */
  addBody(bytes: number): void {
    if (this.#closed || bytes === 0) return
    this.#body += bytes
    this.#buffers.changed(bytes)
  }

  /** A part of the unread bytes that is counted by itself. */
  hold(): Hold {
    return new Hold(this)
  }

  /** Gives everything back, and ends the exchange. */
  end(): void {
    this.close()
    this.#end()
  }

  close(): void {
    if (this.#closed) return
    this.#closed = true
    this.#leave()
    const held = this.#unread + this.#body
    this.#unread = 0
    this.#body = 0
    if (held !== 0) this.#buffers.changed(-held)
  }
}

/** The unread bytes of one queue. */
export class Hold {
  readonly #share: Share
  #bytes = 0

  constructor(share: Share) {
    this.#share = share
  }

  add(bytes: number): void {
    this.#bytes += bytes
    this.#share.addUnread(bytes)
  }

  /** Gives back all that has been added. */
  release(): void {
    this.add(-this.#bytes)
  }
}
