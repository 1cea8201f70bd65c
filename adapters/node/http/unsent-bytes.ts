import type { ServerResponse } from 'node:http'
import type { HostBufferAccount, HostBuffers } from '../../../src/options.ts'

/**
 * Counts the bytes of a response that the client has not yet received, once they exceed the buffer that
 * Node gives every response. If memory runs out, the response is cut off. The adapter does not count.
 */
export class UnsentBytes {
  readonly #response: ServerResponse
  readonly #buffers: HostBuffers
  #account: HostBufferAccount | undefined

  constructor(response: ServerResponse, buffers: HostBuffers) {
    this.#response = response
    this.#buffers = buffers
  }

  /** Call this after every write. */
  update(): void {
    const { writableLength: unsent, writableHighWaterMark: normal } = this.#response
    if (unsent <= normal && !this.#account) return
    this.#account ??= this.#open()
    this.#account.addUnread(unsent - this.#account.unread)
  }

  #open(): HostBufferAccount {
    const account = this.#buffers.openAccount(() => this.#response.destroy())
    this.#response.on('drain', () => this.update())
    this.#response.once('close', () => account.close())
    return account
  }
}
