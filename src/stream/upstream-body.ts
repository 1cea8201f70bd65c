import { toFailure, type UpstreamFailure } from '../core/failure.ts'
import type { ByteSource } from '../core/ports.ts'
import type { Source, SourceController } from '../core/streams.ts'

/**
 * The body of an upstream's answer as the source of a pipeline. A failure is its last chunk, because a
 * stream error would overtake the bytes that came before it.
 */
export class UpstreamBody implements Source<Uint8Array | UpstreamFailure> {
  readonly #bytes: ByteSource
  #isCancelled = false

  constructor(bytes: ByteSource) {
    this.#bytes = bytes
  }

  async pull(controller: SourceController<Uint8Array | UpstreamFailure>): Promise<void> {
    const chunk = await this.#bytes.read().catch(toFailure)
    if (this.#isCancelled) return
    if (chunk) controller.enqueue(chunk)
    if (!(chunk instanceof Uint8Array)) controller.close()
  }

  cancel(): void {
    this.#isCancelled = true
    this.#bytes.cancel()
  }
}
