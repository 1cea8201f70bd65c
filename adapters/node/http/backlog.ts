import type { ServerResponse } from 'node:http'
import type { Buffers, Share } from '../../../src/wire/buffers.ts'

/**
 * Counts what waits in an answer for its client, beyond what Node holds of every answer for a moment.
 * The answer is cut off when room has to be made for others. The adapter does not count.
 */
export class Backlog {
  readonly #response: ServerResponse
  readonly #buffers: Pick<Buffers, 'open'>
  #share: Share | undefined

  constructor(response: ServerResponse, buffers: Pick<Buffers, 'open'>) {
    this.#response = response
    this.#buffers = buffers
  }

  /** To be called after a write. */
  count(): void {
    const { writableLength: waiting, writableHighWaterMark: usual } = this.#response
    if (waiting <= usual && !this.#share) return
    this.#share ??= this.#open()
    this.#share.addUnread(waiting - this.#share.unread)
  }

  #open(): Share {
    const share = this.#buffers.open(() => this.#response.destroy())
    this.#response.on('drain', () => this.count())
    this.#response.once('close', () => share.close())
    return share
  }
}
