import {
  type Stage,
  type StageController,
  type Strategy,
  type Transformer,
  unbuffered,
  type Writable,
} from '../../../src/core/streams.ts'
import { SyncReadable, type SyncSink, type SyncWritable } from './sync-readable.ts'

/**
 * A `TransformStream` for the host. One object is both sides and the controller of the transformer; a
 * chain has half a dozen of them.
 */
export class NodeTransformStream<In, Out>
  extends SyncReadable<Out>
  implements Stage<In, Out>, StageController<Out>, Writable<In>, SyncWritable<In>, SyncSink<In>
{
  readonly #transformer: Transformer<In, Out>
  #input: SyncReadable<In> | undefined

  /** The writable side does not buffer, so its strategy is ignored. */
  constructor(
    transformer: Transformer<In, Out>,
    _writable?: Strategy,
    { highWaterMark }: Strategy = unbuffered,
  ) {
    super(highWaterMark)
    this.#transformer = transformer
    transformer.start?.(this)
  }

  get readable(): SyncReadable<Out> {
    return this
  }

  get writable(): this {
    return this
  }

  readFrom(source: SyncReadable<In>): void {
    this.#input = source
    source.sendTo(this)
  }

  get isReady(): boolean {
    return (this.desiredSize ?? 0) > 0
  }

  write(chunk: In): void {
    try {
      this.#transformer.transform(chunk, this)
    } catch (reason) {
      this.error(reason)
      this.#input?.cancel(reason)
    }
  }

  end(): void {
    if (!this.isOpen) return
    try {
      const flushing = this.#transformer.flush?.(this)
      if (!flushing) return this.close()
      flushing.then(this.#flushed, this.#failed)
    } catch (reason) {
      this.error(reason)
    }
  }

  readonly #flushed = () => {
    // The reader may have left in between.
    if (this.isOpen) this.close()
  }

  readonly #failed = (reason: unknown) => this.error(reason)

  /** Fails both sides. */
  abort(reason?: unknown): Promise<void> {
    this.error(reason)
    return Promise.resolve()
  }

  terminate(): void {
    if (!this.isOpen) return
    this.close()
    this.#input?.cancel()
  }

  protected pull(): void {
    this.#input?.resume()
  }

  protected cancelSource(reason: unknown): void {
    this.#transformer.cancel?.(reason)
    this.#input?.cancel(reason)
  }
}
