import type { ServerResponse } from 'node:http'
import { unbuffered } from '../../../src/core/streams.ts'
import { sourceOf, type Unread } from '../../../src/wire/convert-stream.ts'
import { NodeReadableStream, Outlet, type Receiver } from '../streams/index.ts'
import type { Backlog } from './backlog.ts'

/**
 * A stream with those members of Node's `Readable` by which the adapter sends one. As a stream of
 * the web it would take a promise for each of its chunks, and would not learn that the client has left.
 */
export class Pour implements Receiver<Uint8Array> {
  readonly #stream: Outlet<Uint8Array>
  readonly #backlog: Backlog
  #response: ServerResponse | undefined
  #isOver = false

  constructor(stream: Unread, backlog: Backlog) {
    const isOwn = stream instanceof Outlet
    this.#stream = isOwn ? stream : new NodeReadableStream(sourceOf(stream), unbuffered)
    this.#backlog = backlog
  }

  /** By its presence the adapter knows a `Readable`. */
  read(): void {}

  /** The adapter listens for failures: a stream that fails cuts the answer off by itself. */
  once(): void {}

  /** Writes everything out, and asks for more as soon as the socket has taken that. */
  pipe(response: ServerResponse): void {
    this.#response = response
    response.on('drain', () => this.#stream.ask())
    this.#stream.sendTo(this)
  }

  /** The answer is out, or the client has left. */
  destroy(): void {
    if (this.#isOver) return
    this.#isOver = true
    void this.#stream.cancel()
  }

  get wants(): boolean {
    return !this.#isOver && this.#response?.writableNeedDrain === false
  }

  write(bytes: Uint8Array): void {
    // Writing to a connection that is gone is an error without a listener.
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
