import type { Socket } from 'node:net'
import type { AddressLimit } from '../http/address-limit.ts'
import type { Channel } from './channel.ts'
import type { ConnectionId, FromPrimary, FromWorker } from './messages.ts'

export interface DealerOptions {
  readonly addresses: AddressLimit
  /** Maximum number of connections that wait for a worker. */
  readonly maxWaiting: number
  /** Called when every worker has stopped taking connections. */
  readonly onStopped: () => void
}

interface Connection {
  readonly id: ConnectionId
  readonly socket: Socket
  readonly address: string
}

/** A worker that takes connections. */
interface Taker {
  readonly channel: Channel<FromPrimary, FromWorker>
  /** The addresses of its open connections. */
  readonly open: Map<ConnectionId, string>
  /** The connection that the worker has not taken yet. */
  offered: Connection | undefined
}

/**
 * Gives each new connection to the worker that has the fewest. A worker takes one at a time, so one that is
 * blocked gets no second; when it dies before it has taken the connection, another worker gets it.
 * `node:cluster` would leave such a connection without an answer.
 */
export class ConnectionDealer {
  readonly #options: DealerOptions
  readonly #takers = new Set<Taker>()
  #waiting: Connection[] = []
  #lastId = 0

  constructor(options: DealerOptions) {
    this.#options = options
  }

  /** Number of workers that take connections. */
  get takers(): number {
    return this.#takers.size
  }

  /** Takes a new connection, from which nothing has been read. */
  add(socket: Socket): void {
    const { addresses, maxWaiting } = this.#options
    const address = socket.remoteAddress ?? ''
    // The worker that gets the socket handles its errors.
    socket.on('error', () => {})
    if (this.#waiting.length >= maxWaiting || !addresses.enter(address)) {
      return void socket.destroy()
    }
    this.#waiting.push({ id: ++this.#lastId, socket, address })
    this.#deal()
  }

  /** Adds a worker. Returns the function that removes it when it has ended. */
  join(channel: Channel<FromPrimary, FromWorker>): () => void {
    const taker: Taker = { channel, open: new Map(), offered: undefined }
    channel.onNotice('taken', () => this.#confirm(taker))
    channel.onNotice('closed', (id) => this.#forget(taker, id))
    channel.onNotice('stopped', () => {
      this.#takers.delete(taker)
      if (this.#takers.size === 0) this.#options.onStopped()
    })
    this.#takers.add(taker)
    this.#deal()
    return () => this.#remove(taker)
  }

  /** Closes the connections that wait for a worker. */
  close(): void {
    for (const { socket, address } of this.#waiting) {
      socket.destroy()
      this.#options.addresses.leave(address)
    }
    this.#waiting = []
  }

  #deal(): void {
    let taker = this.#findTaker()
    while (taker) {
      const connection = this.#waiting.shift()
      if (!connection) return
      taker.offered = connection
      taker.channel.hand('connection', connection.id, connection.socket)
      taker = this.#findTaker()
    }
  }

  #findTaker(): Taker | undefined {
    let best: Taker | undefined
    for (const taker of this.#takers) {
      if (taker.offered || !taker.channel.isOpen) continue
      if (!best || taker.open.size < best.open.size) best = taker
    }
    return best
  }

  #confirm(taker: Taker): void {
    const { offered } = taker
    if (!offered) return
    taker.offered = undefined
    taker.open.set(offered.id, offered.address)
    // Closes only the descriptor of this process.
    offered.socket.destroy()
    this.#deal()
  }

  #forget(taker: Taker, id: ConnectionId): void {
    const address = taker.open.get(id)
    if (address === undefined) return
    taker.open.delete(id)
    this.#options.addresses.leave(address)
  }

  #remove(taker: Taker): void {
    this.#takers.delete(taker)
    for (const address of taker.open.values()) this.#options.addresses.leave(address)
    if (taker.offered) this.#waiting.unshift(taker.offered)
    this.#deal()
  }
}
