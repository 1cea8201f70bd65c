import type { Socket } from 'node:net'
import type { UpstreamPort, UpstreamRequest } from '../../../src/index.ts'
import { type Destination, exchange } from '../upstream/exchange.ts'
import { faultOf } from '../upstream/fault.ts'
import { Pool } from '../upstream/pool.ts'

export interface NodeUpstream {
  readonly send: UpstreamPort
  /** Sockets to upstreams that are connecting, in use or idle. */
  readonly openSockets: number
  /** Closes every connection at once; what is running fails as `network`. */
  close(): void
}

/** Addresses to remember: far more than models, and a bound if they ever come from outside. */
const rememberedAddresses = 1_000

/**
 * Upstream calls over undici: HTTP/1.1, connections kept alive, no redirects, no retries but one
 * immediate resend when an idle connection turns out to be closed.
 */
export function nodeUpstream(): NodeUpstream {
  const sockets = new Set<Socket>()
  const shared = new Map<number, Clients>()
  const own = new Map<number, Clients>()

  const clientsFor = ({ connectTimeout, ownClient }: UpstreamRequest): Clients => {
    const clients = ownClient === true ? own : shared
    let found = clients.get(connectTimeout)
    if (!found) {
      found = new Clients((origin) => new Pool({ origin, connectTimeout, sockets }))
      clients.set(connectTimeout, found)
    }
    return found
  }

  return {
    send: (request) => exchange(request, () => clientsFor(request).find(request.url)),
    get openSockets() {
      return sockets.size
    },
    close() {
      for (const clients of [...shared.values(), ...own.values()]) clients.close()
    },
  }
}

/** The pools of all origins that share a connect timeout. */
class Clients {
  readonly #create: (origin: string) => Pool
  readonly #pools = new Map<string, Pool>()
  readonly #destinations = new Map<string, Destination>()

  constructor(create: (origin: string) => Pool) {
    this.#create = create
  }

  /** Throws an `UpstreamFault` when `url` is no address. */
  find(url: string): Destination {
    const known = this.#destinations.get(url)
    if (known) return known
    if (this.#destinations.size >= rememberedAddresses) this.#forget()
    const { origin, pathname, search } = parse(url)
    const destination = { pool: this.#poolOf(origin), path: pathname + search }
    this.#destinations.set(url, destination)
    return destination
  }

  close(): void {
    for (const pool of this.#pools.values()) pool.close()
  }

  #poolOf(origin: string): Pool {
    const pool = this.#pools.get(origin) ?? this.#create(origin)
    this.#pools.set(origin, pool)
    return pool
  }

  #forget(): void {
    this.#destinations.clear()
    for (const [origin, pool] of this.#pools) if (pool.isEmpty) this.#pools.delete(origin)
  }
}

function parse(url: string): URL {
  try {
    return new URL(url)
  } catch (error) {
    throw faultOf(error)
  }
}
