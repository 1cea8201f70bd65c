import type { Reader, Source, SourceController } from '../core/streams.ts'

/**
 * The bytes of a stream for clients that take every clean end for a complete answer: behind the last bytes of one
 * that has failed it breaks off, so that the host cuts the connection.
 */
export class CutBody implements Source<Uint8Array> {
  readonly #bytes: Reader<Uint8Array>
  readonly #hasFailed: () => boolean

  constructor(bytes: Reader<Uint8Array>, hasFailed: () => boolean) {
    this.#bytes = bytes
    this.#hasFailed = hasFailed
  }

  /** The reader has every chunk before it pulls again: an error drops none. */
  async pull(controller: SourceController<Uint8Array>): Promise<void> {
    const { done, value } = await this.#bytes.read()
    if (!done) controller.enqueue(value)
    else if (this.#hasFailed()) controller.error(new Error('the stream has failed'))
    else controller.close()
  }

  cancel(reason?: unknown): Promise<void> {
    return this.#bytes.cancel(reason)
  }
}
