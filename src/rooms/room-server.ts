import type { SharedState } from '../core/shared-state.ts'

/** A place or a ticket on the server, with the names of its limits. */
export type ServerEntry = readonly [id: string, names: readonly string[]]

export interface RoomServerOptions {
  readonly shared: SharedState
  /** Called when the server has lost its data. */
  readonly onLost: () => void
}

/** So many places and tickets are in one call. */
export const maxEntries = 200

const maxStrays = 10_000

/** Calls the functions for rooms on the server, and remembers what it has to free once it can be reached. */
export class RoomServer {
  readonly #options: RoomServerOptions
  readonly #strays = new Map<string, readonly string[]>()
  /** The life of the server's data. */
  #epoch = ''

  constructor(options: RoomServerOptions) {
    this.#options = options
  }

  /**
   * Resolves to the reply; undefined when the server cannot be used. `strays`: what it has to free then, once it is
   * back. `args` is called when the call is sent.
   */
  async call(
    name: string,
    args: () => readonly unknown[],
    strays: readonly ServerEntry[] = [],
  ): Promise<readonly unknown[] | undefined> {
    const { shared } = this.#options
    const keep = () => {
      // The others are free at the end of their lease.
      if (this.#strays.size < maxStrays)
        for (const [id, names] of strays) this.#strays.set(id, names)
    }
    if (!shared.isUp) {
      keep()
      return undefined
    }
    try {
      const [, epoch, ...reply] = await shared.batch({ name, args })
      this.#follow(String(epoch))
      return reply
    } catch {
      keep()
      return undefined
    }
  }

  /** Gives a place back, or leaves the queue. */
  async leave(id: string, names: readonly string[]): Promise<void> {
    const left: readonly ServerEntry[] = [[id, names]]
    await this.call('room_leave', () => left, left)
  }

  /** Frees what could not be freed while the server was away. */
  freeStrays(): void {
    const strays = [...this.#strays]
    this.#strays.clear()
    for (let at = 0; at < strays.length; at += maxEntries) {
      const some = strays.slice(at, at + maxEntries)
      void this.call('room_leave', () => some)
    }
  }

  #follow(epoch: string): void {
    if (epoch === this.#epoch) return
    const isNew = this.#epoch !== ''
    this.#epoch = epoch
    if (isNew) this.#options.onLost()
  }
}
