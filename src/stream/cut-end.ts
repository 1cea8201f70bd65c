import type { StageController, Transformer } from '../core/streams.ts'

/**
 * The last stage of a stream for clients that take every clean end for a complete answer: behind the last bytes of
 * one that has failed it breaks off, so that the host cuts the connection. It must hold no chunk ahead of its reader:
 * the error would drop it.
 */
export class CutEnd implements Transformer<Uint8Array, Uint8Array> {
  readonly #hasFailed: () => boolean

  constructor(hasFailed: () => boolean) {
    this.#hasFailed = hasFailed
  }

  transform(bytes: Uint8Array, out: StageController<Uint8Array>): void {
    out.enqueue(bytes)
  }

  flush(): void {
    if (this.#hasFailed()) throw new Error('the stream has failed')
  }
}
