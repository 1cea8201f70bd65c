import {
  oneAhead,
  type Source,
  type SourceController,
  type Strategy,
} from '../../../src/core/streams.ts'
import { SyncReadable } from './sync-readable.ts'

/** A `ReadableStream` for the host: the start of a chain. It is also the controller of its source. */
export class NodeReadableStream<Chunk>
  extends SyncReadable<Chunk>
  implements SourceController<Chunk>
{
  readonly #source: Source<Chunk>
  /** A `pull` is running. The source gets one call at a time. */
  #isPulling = true
  /** The source has enqueued since the last `pull`. Pulling an idle source again would spin. */
  #hasEnqueued = true

  constructor(source: Source<Chunk>, { highWaterMark }: Strategy = oneAhead) {
    super(highWaterMark)
    this.#source = source
    source.start?.(this)
    this.#pulled()
  }

  override enqueue(chunk: Chunk): void {
    this.#hasEnqueued = true
    super.enqueue(chunk)
    if (!this.#isPulling) this.resume()
  }

  protected pull(): void {
    if (this.#isPulling || !this.#hasEnqueued || !this.#source.pull) return
    this.#isPulling = true
    this.#hasEnqueued = false
    try {
      Promise.resolve(this.#source.pull(this)).then(this.#pulled, this.#failed)
    } catch (reason) {
      this.error(reason)
    }
  }

  protected cancelSource(reason: unknown): void {
    // The reader has left, so a failure of the source is ignored.
    Promise.resolve(this.#source.cancel?.(reason)).catch(() => {})
  }

  readonly #pulled = () => {
    this.#isPulling = false
    this.resume()
  }

  readonly #failed = (reason: unknown) => this.error(reason)
}
