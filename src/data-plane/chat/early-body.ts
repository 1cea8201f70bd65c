import type { Millis } from '../../core/ids.ts'
import type { Clock, Timer } from '../../core/ports.ts'
import type { Readable, Reader, Source, SourceController } from '../../core/streams.ts'
import type { LastBytes } from '../../stream/stream-writer.ts'

/** What becomes of a stream that has begun early: the stream of a link, or the bytes of an error. */
export type EarlyOutcome =
  | { readonly kind: 'served'; readonly body: Readable<Uint8Array> }
  | { readonly kind: 'failed'; readonly last: LastBytes }

export interface EarlyBodyOptions {
  readonly first: Uint8Array
  readonly ping: () => Uint8Array
  readonly clock: Clock
  /** Between two pings; 0 for none after the first. */
  readonly heartbeat: Millis
  /** Never rejects. */
  readonly outcome: Promise<EarlyOutcome>
  /** Called when the client leaves before there is an outcome. */
  readonly onLeave: () => void
}

/**
 * The bytes of a stream whose client has its headers before a link has sent content: signs of life, then the stream of
 * the link that serves, which has a heartbeat of its own.
 */
export class EarlyBody implements Source<Uint8Array> {
  readonly #options: EarlyBodyOptions
  #timer: Timer | undefined
  #reader: Reader<Uint8Array> | undefined
  #hasLeft = false
  #hasFailed = false
  #isBroken = false

  constructor(options: EarlyBodyOptions) {
    this.#options = options
  }

  /** True when an error has been written in place of an answer. */
  get hasFailed(): boolean {
    return this.#hasFailed
  }

  /** True when the stream of the link has broken off. */
  get isBroken(): boolean {
    return this.#isBroken
  }

  start(out: SourceController<Uint8Array>): void {
    const { first, outcome } = this.#options
    out.enqueue(first)
    this.#arm(out)
    // Not in `pull`, which a client that has left does not cause.
    void outcome.then(() => this.#stop())
  }

  async pull(out: SourceController<Uint8Array>): Promise<void> {
    if (this.#reader) return this.#pass(this.#reader, out)
    const outcome = await this.#options.outcome
    switch (outcome.kind) {
      case 'served': {
        const reader = outcome.body.getReader()
        if (this.#hasLeft) return reader.cancel()
        this.#reader = reader
        return this.#pass(reader, out)
      }
      case 'failed':
        this.#hasFailed = true
        if (!this.#hasLeft) writeLast(outcome.last, out)
        return
      default:
        return outcome satisfies never
    }
  }

  cancel(reason?: unknown): Promise<void> | undefined {
    this.#hasLeft = true
    this.#stop()
    if (this.#reader) return this.#reader.cancel(reason)
    this.#options.onLeave()
    return undefined
  }

  /** A stream that breaks off ends here, because an error would drop what has not been read. */
  async #pass(reader: Reader<Uint8Array>, out: SourceController<Uint8Array>): Promise<void> {
    try {
      const { done, value } = await reader.read()
      if (this.#hasLeft) return
      if (done) out.close()
      else out.enqueue(value)
    } catch {
      this.#isBroken = true
      if (!this.#hasLeft) out.close()
    }
  }

  /** A client that does not read gets no pings, because they would accumulate. */
  #arm(out: SourceController<Uint8Array>): void {
    const { clock, heartbeat, ping } = this.#options
    if (heartbeat === 0) return
    this.#timer = clock.schedule(heartbeat, () => {
      if ((out.desiredSize ?? 0) > 0) out.enqueue(ping())
      this.#arm(out)
    })
  }

  #stop(): void {
    this.#timer?.cancel()
    this.#timer = undefined
  }
}

function writeLast(last: LastBytes, out: SourceController<Uint8Array>): void {
  for (const bytes of last instanceof Uint8Array ? [last] : last) {
    if (bytes.length > 0) out.enqueue(bytes)
  }
  out.close()
}
