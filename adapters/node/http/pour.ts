import type { ServerResponse } from 'node:http'
import type { BodySource } from '../../../src/index.ts'
import type { Backlog } from './backlog.ts'

/**
 * Writes out what a source gives, and asks it for more as soon as the socket has taken that. A
 * client that leaves cancels the source, and a source that fails cuts the answer off.
 */
export function pour(source: BodySource, response: ServerResponse, backlog: Backlog): void {
  new Pour(source, response, backlog).start()
}

/** It is also the controller that the source gets. */
class Pour implements ReadableStreamDefaultController<Uint8Array> {
  readonly #source: BodySource
  readonly #response: ServerResponse
  readonly #backlog: Backlog
  /** The source is at work: it is asked once at a time. */
  #busy = true
  /** Something has come since it was asked last: without that, asking again would lead nowhere. */
  #gave = true
  #over = false

  constructor(source: BodySource, response: ServerResponse, backlog: Backlog) {
    this.#source = source
    this.#response = response
    this.#backlog = backlog
  }

  start(): void {
    if (this.#response.destroyed) return this.#left()
    this.#response.once('close', () => this.#left())
    this.#response.on('drain', () => this.#ask())
    this.#settle(() => this.#source.start?.(this))
  }

  get desiredSize(): number {
    return this.#response.writableHighWaterMark - this.#response.writableLength
  }

  enqueue(bytes: Uint8Array): void {
    // Writing to a connection that is gone is an error without a listener.
    if (this.#over || this.#response.destroyed) return
    this.#response.write(bytes)
    this.#backlog.count()
    this.#gave = true
    this.#ask()
  }

  close(): void {
    if (this.#over) return
    this.#over = true
    this.#response.end()
  }

  error(): void {
    this.#over = true
    this.#response.destroy()
  }

  #ask(): void {
    const mayAsk = this.#gave && !this.#busy && !this.#over
    if (!mayAsk || this.#response.writableNeedDrain) return
    this.#gave = false
    this.#busy = true
    this.#settle(() => this.#source.pull?.(this))
  }

  #settle(work: () => unknown): void {
    try {
      Promise.resolve(work()).then(
        () => this.#rest(),
        () => this.error(),
      )
    } catch {
      this.error()
    }
  }

  #rest(): void {
    this.#busy = false
    this.#ask()
  }

  #left(): void {
    if (this.#over) return
    this.#over = true
    // Whoever could be told of a failure has left.
    Promise.resolve(this.#source.cancel?.()).catch(() => {})
  }
}
