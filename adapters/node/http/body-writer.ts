import type { ServerResponse } from 'node:http'
import { unbuffered } from '../../../src/core/streams.ts'
import { toSource, type UnreadStream } from '../../../src/wire/convert-stream.ts'
import { NodeReadableStream, SyncReadable, type SyncSink } from '../streams/index.ts'
import type { UnsentBytes } from './unsent-bytes.ts'

/**
 * A response body with the members of Node's `Readable` that the adapter uses. If the adapter read the
 * body as a web stream, each chunk would take a promise, and the stream would not notice that the
 * client has left. The bench scenario is `stream`.
 */
export class BodyWriter implements SyncSink<Uint8Array> {
  readonly #stream: SyncReadable<Uint8Array>
  readonly #unsent: UnsentBytes
  #response: ServerResponse | undefined
  #isOver = false

  constructor(stream: UnreadStream, unsent: UnsentBytes) {
    const isOwn = stream instanceof SyncReadable
    this.#stream = isOwn ? stream : new NodeReadableStream(toSource(stream), unbuffered)
    this.#unsent = unsent
  }

  /** Never called; the adapter recognizes a `Readable` by this method. */
  read(): void {}

  /** The adapter listens for errors here. A failing stream cuts off the response itself, in `abort`. */
  once(): void {}

  /** Writes the stream to the client and resumes it whenever the socket has drained. */
  pipe(response: ServerResponse): void {
    this.#response = response
    response.on('drain', () => this.#stream.resume())
    this.#stream.sendTo(this)
  }

  /** The adapter calls this after the response is sent and when the client leaves. */
  destroy(): void {
    if (this.#isOver) return
    this.#isOver = true
    void this.#stream.cancel()
  }

  get isReady(): boolean {
    return !this.#isOver && this.#response?.writableNeedDrain === false
  }

  write(bytes: Uint8Array): void {
    // A write to a closed connection would emit an error that has no listener.
    if (this.#response?.destroyed !== false) return
    this.#response.write(bytes)
    this.#unsent.update()
  }

  end(): void {
    this.#isOver = true
    this.#response?.end()
  }

  abort(): void {
    this.#isOver = true
    const response = this.#response
    // Node keeps what was written last until the end of the turn.
    if (response) setImmediate(() => response.destroy())
  }
}
