import type { ServerResponse } from 'node:http'
import { unbuffered } from '../../../src/core/streams.ts'
import { toSource, type UnreadStream } from '../../../src/wire/convert-stream.ts'
import { NodeReadableStream, SyncReadable, type SyncSink } from '../streams/index.ts'
import type { UnsentBytes } from './unsent-bytes.ts'

/**
 * Writes a stream to a client. Piping a web stream would take a promise for each chunk, and the stream
 * would not notice that the client has left. The bench scenario is `stream`.
 */
export class BodyWriter implements SyncSink<Uint8Array> {
  readonly #stream: SyncReadable<Uint8Array>
  readonly #response: ServerResponse
  readonly #unsent: UnsentBytes
  #isOver = false

  constructor(stream: UnreadStream, response: ServerResponse, unsent: UnsentBytes) {
    const isOwn = stream instanceof SyncReadable
    this.#stream = isOwn ? stream : new NodeReadableStream(toSource(stream), unbuffered)
    this.#response = response
    this.#unsent = unsent
  }

  /** Starts to write, and resumes the stream whenever the socket has drained. */
  start(): void {
    this.#response.on('drain', () => this.#stream.resume())
    this.#response.once('close', () => this.cancel())
    this.#stream.sendTo(this)
  }

  /** Cancels the stream because the client has left, unless it has ended. */
  cancel(): void {
    if (this.#isOver) return
    this.#isOver = true
    void this.#stream.cancel()
  }

  get isReady(): boolean {
    return !this.#isOver && !this.#response.writableNeedDrain
  }

  write(bytes: Uint8Array): void {
    // A write to a closed connection would emit an error that has no listener.
    if (this.#response.destroyed) return
    this.#response.write(bytes)
    this.#unsent.update()
  }

  end(): void {
    this.#isOver = true
    this.#response.end()
  }

  abort(): void {
    this.#isOver = true
    this.#response.destroy()
  }
}
