import type { ServerResponse } from 'node:http'
import { unbuffered } from '../../../src/core/streams.ts'
import { toSource, type UnreadStream } from '../../../src/wire/convert-stream.ts'
import { NodeReadableStream, SyncReadable, type SyncSink } from '../streams/index.ts'
import type { UnsentBytes } from './unsent-bytes.ts'

/**
 * A stream with the members of Node's `Readable` that the adapter uses to send one. If the adapter read
 * it as a web stream, each chunk would take a promise, and the stream would not learn that the client
 * has left.
 */
export class BodyWriter implements SyncSink<Uint8Array> {
  readonly #stream: SyncReadable<Uint8Array>
  readonly #unsent: UnsentBytes
  #response: ServerResponse | undefined
  #isOver = false

  constructor(stream: UnreadStream, backlog: UnsentBytes) {
    const isOwn = stream instanceof SyncReadable
    this.#stream = isOwn ? stream : new NodeReadableStream(toSource(stream), unbuffered)
    this.#unsent = backlog
  }

  /** The adapter recognizes a `Readable` by this method and never calls it. */
  read(): void {}

  /** The adapter listens for failures here. A stream that fails cuts the answer off itself. */
  once(): void {}

  /** Writes the stream to the client, and asks for more whenever the socket has drained. */
  pipe(response: ServerResponse): void {
    this.#response = response
    response.on('drain', () => this.#stream.resume())
    this.#stream.sendTo(this)
  }

  /** The adapter calls this when the answer is sent and when the client has left. */
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
    this.#response?.destroy()
  }
}
