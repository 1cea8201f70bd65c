import type { ServerResponse } from 'node:http'
import { unbuffered } from '../../../src/core/streams.ts'
import { toSource, type Unread } from '../../../src/wire/convert-stream.ts'
import { NodeReadableStream, Outlet, type Receiver } from '../streams/index.ts'
import type { Backlog } from './backlog.ts'

/**
 * A stream with the members of Node's `Readable` that the adapter uses to send one. If the adapter read
 * it as a web stream, each chunk would take a promise, and the stream would not learn that the client
 * has left.
 */
export class BodyWriter implements Receiver<Uint8Array> {
  readonly #stream: Outlet<Uint8Array>
  readonly #backlog: Backlog
  #response: ServerResponse | undefined
  #isOver = false

  constructor(stream: Unread, backlog: Backlog) {
    const isOwn = stream instanceof Outlet
    this.#stream = isOwn ? stream : new NodeReadableStream(toSource(stream), unbuffered)
    this.#backlog = backlog
  }

  /** The adapter recognizes a `Readable` by this method and never calls it. */
  read(): void {}

  /** The adapter listens for failures here. A stream that fails cuts the answer off itself. */
  once(): void {}

  /** Writes the stream to the client, and asks for more whenever the socket has drained. */
  pipe(response: ServerResponse): void {
    this.#response = response
    response.on('drain', () => this.#stream.ask())
    this.#stream.sendTo(this)
  }

  /** The adapter calls this when the answer is sent and when the client has left. */
  destroy(): void {
    if (this.#isOver) return
    this.#isOver = true
    void this.#stream.cancel()
  }

  get wants(): boolean {
    return !this.#isOver && this.#response?.writableNeedDrain === false
  }

  write(bytes: Uint8Array): void {
    // A write to a closed connection would emit an error that has no listener.
    if (this.#response?.destroyed !== false) return
    this.#response.write(bytes)
    this.#backlog.count()
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
