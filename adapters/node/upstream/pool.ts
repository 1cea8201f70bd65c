import type { Socket } from 'node:net'
import type { Millis } from '../../../src/core/ids.ts'
import { removeItem } from '../../../src/wire/light-abort-controller.ts'
import type { Connector } from './connect.ts'
import { UpstreamConnection } from './connection.ts'

export interface PoolOptions {
  readonly origin: string
  readonly connector: Connector
  readonly connectTimeout: Millis
  readonly sockets: Set<Socket>
  /** The pools that have a connection. */
  readonly pools: Set<Pool>
  /** False closes each connection after one request. Default: true. */
  readonly canReuse?: boolean | undefined
}

/** The connections to one origin. The most recently used one is reused first, so surplus ones time out. */
export class Pool {
  readonly #options: PoolOptions
  readonly #all = new Set<UpstreamConnection>()
  readonly #idle: UpstreamConnection[] = []

  constructor(options: PoolOptions) {
    this.#options = options
  }

  get isEmpty(): boolean {
    return this.#all.size === 0
  }

  /** Returns an idle connection, or else a new one. */
  acquire(): UpstreamConnection {
    return this.#idle.pop() ?? this.openConnection()
  }

  openConnection(): UpstreamConnection {
    const connection = new UpstreamConnection({
      ...this.#options,
      onIdleClose: (closed) => {
        removeItem(this.#idle, closed)
        this.discard(closed)
      },
    })
    this.#all.add(connection)
    this.#options.pools.add(this)
    return connection
  }

  /** Takes back a connection whose request is complete. */
  release(connection: UpstreamConnection): void {
    if (this.#options.canReuse === false || connection.isOld) return this.discard(connection)
    connection.markServed()
    this.#idle.push(connection)
  }

  /** Closes a connection and removes it from the pool. */
  discard(connection: UpstreamConnection): void {
    this.#all.delete(connection)
    if (this.isEmpty) this.#options.pools.delete(this)
    connection.close()
  }

  close(): void {
    for (const connection of this.#all) connection.close()
    this.#all.clear()
    this.#idle.length = 0
    this.#options.pools.delete(this)
  }
}
