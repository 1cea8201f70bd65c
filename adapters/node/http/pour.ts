import type { ServerResponse } from 'node:http'
import type { Outlet, Receiver } from '../streams/index.ts'
import type { Backlog } from './backlog.ts'

/**
 * Writes a stream out, and asks for more as soon as the socket has taken that. A client that leaves
 * cancels the stream, and a stream that fails cuts the answer off.
 */
export function pour(stream: Outlet<Uint8Array>, response: ServerResponse, backlog: Backlog): void {
  if (response.destroyed) void stream.cancel()
  else new Pour(stream, response, backlog).start()
}

class Pour implements Receiver<Uint8Array> {
  readonly #stream: Outlet<Uint8Array>
  readonly #response: ServerResponse
  readonly #backlog: Backlog
  #isOver = false

  constructor(stream: Outlet<Uint8Array>, response: ServerResponse, backlog: Backlog) {
    this.#stream = stream
    this.#response = response
    this.#backlog = backlog
  }

  start(): void {
    this.#response.once('close', () => this.#left())
    this.#response.on('drain', () => this.#stream.ask())
    this.#stream.sendTo(this)
  }

  get wants(): boolean {
    return !this.#isOver && !this.#response.writableNeedDrain
  }

  write(bytes: Uint8Array): void {
    // Writing to a connection that is gone is an error without a listener.
    if (this.#response.destroyed) return
    this.#response.write(bytes)
    this.#backlog.count()
  }

  end(): void {
    this.#isOver = true
    this.#response.end()
  }

  abort(): void {
    this.#isOver = true
    this.#response.destroy()
  }

  #left(): void {
    if (this.#isOver) return
    this.#isOver = true
    void this.#stream.cancel()
  }
}
