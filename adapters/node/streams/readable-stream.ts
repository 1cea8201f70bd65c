import {
  oneAhead,
  type Source,
  type SourceController,
  type Strategy,
} from '../../../src/core/streams.ts'
import { Outlet } from './outlet.ts'

/** A `ReadableStream` of Node's own: the beginning of a chain. It is also the controller of its source. */
export class NodeReadableStream<Chunk> extends Outlet<Chunk> implements SourceController<Chunk> {
  readonly #source: Source<Chunk>
  /** The source is at work. It gets one call of `pull` at a time. */
  #isPulling = true
  /** The source has enqueued a chunk since the last `pull`. Without one, another `pull` is pointless. */
  #gave = true

  constructor(source: Source<Chunk>, { highWaterMark }: Strategy = oneAhead) {
    super(highWaterMark)
    this.#source = source
    source.start?.(this)
    this.#pulled()
  }

  override enqueue(chunk: Chunk): void {
    this.#gave = true
    super.enqueue(chunk)
    if (!this.#isPulling) this.ask()
  }

  protected pull(): void {
    if (this.#isPulling || !this.#gave || !this.#source.pull) return
    this.#isPulling = true
    this.#gave = false
    try {
      Promise.resolve(this.#source.pull(this)).then(this.#pulled, this.#failed)
    } catch (reason) {
      this.error(reason)
    }
  }

  protected stop(reason: unknown): void {
    // The reader has left, so nothing can report a failure of the source.
    Promise.resolve(this.#source.cancel?.(reason)).catch(() => {})
  }

  readonly #pulled = () => {
    this.#isPulling = false
    this.ask()
  }

  readonly #failed = (reason: unknown) => this.error(reason)
}
