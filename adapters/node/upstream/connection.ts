import type { Socket } from 'node:net'
import { Client, type Dispatcher } from 'undici'
import type { Millis } from '../../../src/core/ids.ts'
import { type Connector, connect } from './connect.ts'

export interface UpstreamConnectionOptions {
  readonly origin: string
  readonly connector: Connector
  readonly connectTimeout: Millis
  /** All open and connecting sockets; the connection adds and removes its own. */
  readonly sockets: Set<Socket>
  /** Called when the socket closes while no request uses it. */
  readonly onIdleClose: (connection: UpstreamConnection) => void
}

/**
 * One connection to an upstream, used by one request at a time. It is an undici client with a single
 * socket, so that a request knows whether its socket has served before, and can close the socket at any
 * point, even while it connects.
 */
export class UpstreamConnection {
  readonly #client: Client
  #socket: Socket | undefined
  #servedOn: Socket | undefined
  #openedAt = 0
  #busy = false

  constructor({
    origin,
    connector,
    connectTimeout,
    sockets,
    onIdleClose,
  }: UpstreamConnectionOptions) {
    this.#client = new Client(origin, {
      ...clientOptions,
      connect: (options, callback) => {
        const socket = connect({ connector, options, timeout: connectTimeout, callback })
        this.#socket = socket
        this.#openedAt = performance.now()
        sockets.add(socket)
        socket.once('close', () => sockets.delete(socket))
      },
    })
    this.#client.on('disconnect', () => {
      if (!this.#busy) onIdleClose(this)
    })
  }

  /** True if the current socket has served an earlier request: the peer may close it at any moment. */
  get isReused(): boolean {
    return this.#servedOn !== undefined && this.#servedOn === this.#socket
  }

  /** True for a socket that no further request should use: its host may have another address by now. */
  get isOld(): boolean {
    return performance.now() - this.#openedAt > maxAge
  }

  send(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    this.#busy = true
    this.#client.dispatch(options, handler)
  }

  /** Marks the request as complete, so that the next one can follow. */
  markServed(): void {
    this.#busy = false
    this.#servedOn = this.#socket
  }

  /** Closes the socket and fails a running request. */
  close(): void {
    this.#socket?.destroy()
    this.#client.destroy(() => {})
  }
}

/** How long requests may use one socket, so that a changed DNS record is followed within that time. */
const maxAge: Millis = 60_000

/** Times in milliseconds. The gateway has its own timeouts: undici's timers are up to a second late. */
const clientOptions = {
  pipelining: 1,
  allowH2: false,
  headersTimeout: 0,
  bodyTimeout: 0,
  keepAliveTimeout: 4_000,
  // A longer time that the server offers does not count: a NAT in between may forget the connection sooner.
  keepAliveMaxTimeout: 4_000,
  keepAliveTimeoutThreshold: 2_000,
  maxHeaderSize: 32_768,
} satisfies Client.Options
