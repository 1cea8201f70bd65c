import {
  type Stage,
  type StageController,
  type Strategy,
  type Transformer,
  unbuffered,
  type Writable,
} from '../../../src/core/streams.ts'
import { type Inlet, Outlet, type Receiver } from './outlet.ts'

/**
 * A `TransformStream` of Node's own: one object is both of its sides and the controller of its
 * transformer, since a chain has half a dozen of them.
 */
export class NodeTransformStream<In, Out>
  extends Outlet<Out>
  implements Stage<In, Out>, StageController<Out>, Writable<In>, Inlet<In>, Receiver<In>
{
  readonly #transformer: Transformer<In, Out>
  #outlet: Outlet<In> | undefined

  /** The stage holds back nothing that is written to it, so the strategy of that side is not used. */
  constructor(
    transformer: Transformer<In, Out>,
    _writable?: Strategy,
    { highWaterMark }: Strategy = unbuffered,
  ) {
    super(highWaterMark)
    this.#transformer = transformer
    transformer.start?.(this)
  }

  get readable(): Outlet<Out> {
    return this
  }

  get writable(): this {
    return this
  }

  receiveFrom(outlet: Outlet<In>): void {
    this.#outlet = outlet
    outlet.sendTo(this)
  }

  get wants(): boolean {
    return (this.desiredSize ?? 0) > 0
  }

  write(chunk: In): void {
    try {
      this.#transformer.transform(chunk, this)
    } catch (reason) {
      this.error(reason)
      this.#outlet?.cancel(reason)
    }
  }

  end(): void {
    if (!this.isOpen) return
    try {
      this.#transformer.flush?.(this)
      this.close()
    } catch (reason) {
      this.error(reason)
    }
  }

  /** Ends both sides with a failure. */
  abort(reason?: unknown): Promise<void> {
    this.error(reason)
    return Promise.resolve()
  }

  terminate(): void {
    if (!this.isOpen) return
    this.close()
    this.#outlet?.cancel()
  }

  protected pull(): void {
    this.#outlet?.ask()
  }

  protected stop(reason: unknown): void {
    this.#transformer.cancel?.(reason)
    this.#outlet?.cancel(reason)
  }
}
