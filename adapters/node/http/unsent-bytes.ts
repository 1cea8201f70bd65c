import type { ServerResponse } from 'node:http'
import type { BufferAccount, Buffers } from '../../../src/wire/buffers.ts'

/**
 * Counts what waits in an answer for its client, beyond what Node holds of every answer for a moment.
 * The answer is cut off when room has to be made for others. The adapter does not count.
 */
export class UnsentBytes {
  readonly #response: ServerResponse
  readonly #buffers: Pick<Buffers, 'openAccount'>
  #account: BufferAccount | undefined

  constructor(response: ServerResponse, buffers: Pick<Buffers, 'openAccount'>) {
    this.#response = response
    this.#buffers = buffers
  }

  /** To be called after a write. */
  update(): void {
    const { writableLength: waiting, writableHighWaterMark: usual } = this.#response
    if (waiting <= usual && !this.#account) return
    this.#account ??= this.#open()
    this.#account.addUnread(waiting - this.#account.unread)
  }

  #open(): BufferAccount {
    const share = this.#buffers.openAccount(() => this.#response.destroy())
    this.#response.on('drain', () => this.update())
    this.#response.once('close', () => share.close())
    return share
  }
}
