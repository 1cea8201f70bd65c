import type { Socket } from 'node:net'
import { Client, type Dispatcher } from 'undici'
import type { Millis } from '../../../src/core/ids.ts'
import { type Connector, connect } from './connect.ts'

export interface ConnectionOptions {
  readonly origin: string
  readonly connector: Connector
  readonly connectTimeout: Millis
  /** Every socket from its first packet to its close. */
  readonly sockets: Set<Socket>
  /** The socket has closed while no exchange was using it. */
  readonly onIdleClose: (connection: Connection) => void
}

/**
 * One connection to an upstream, used by one exchange at a time. It is a client of undici with a
 * single socket, so that an exchange knows which socket it runs on, whether that one has served
 * before, and can close it at any point, also while it is still connecting.
 */
export class Connection {
  readonly #client: Client
  #socket: Socket | undefined
  #servedOn: Socket | undefined
  #busy = false

  constructor({ origin, connector, connectTimeout, sockets, onIdleClose }: ConnectionOptions) {
    this.#client = new Client(origin, {
      ...clientOptions,
      connect: (options, callback) => {
        const socket = connect({ connector, options, timeout: connectTimeout, callback })
        this.#socket = socket
        sockets.add(socket)
        socket.once('close', () => sockets.delete(socket))
      },
    })
    this.#client.on('disconnect', () => {
      if (!this.#busy) onIdleClose(this)
    })
  }

  /** The present socket has served an earlier exchange, so its peer may close it at any moment. */
  get isReused(): boolean {
    return this.#servedOn !== undefined && this.#servedOn === this.#socket
  }

  send(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#busy = true
    this.#client.dispatch(options, handler)
  }

  /** The exchange is complete, so another one may follow. */
  markServed(): void {
    this.#busy = false
    this.#servedOn = this.#socket
  }

  /** Closes the socket, whatever goes on, and fails what is running. */
  close(): void {
    this.#socket?.destroy()
    this.#client.destroy(() => {})
  }
}

/** All waiting is timed by the gateway itself: undici's timers are up to a second late. */
const clientOptions = {
  pipelining: 1,
  allowH2: false,
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: 4_000,
  keepAliveTimeoutThreshold: 2_000,
  maxHeaderSize: 32_768,
} satisfies Client.Options
