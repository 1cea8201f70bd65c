import type { Socket } from 'node:net'
import type { Millis } from '../../../src/core/ids.ts'
import { faultOf } from './fault.ts'
import { Pool } from './pool.ts'
import { type Destination, destinationOf } from './send-request.ts'
import type { Way } from './way.ts'

export interface ClientsOptions {
  readonly wayTo: (url: URL) => Way
  readonly connectTimeout: Millis
  readonly sockets: Set<Socket>
  readonly pools: Set<Pool>
}

/** Addresses to remember: far more than models, and a bound if they ever come from outside. */
const rememberedAddresses = 1_000

/** The pools of all origins that share a way out and a connect timeout. */
export class Clients {
  readonly #options: ClientsOptions
  readonly #pools = new Map<string, Pool>()
  readonly #destinations = new Map<string, Destination>()

  constructor(options: ClientsOptions) {
    this.#options = options
  }

  /** Throws an `UpstreamFault` when `url` is not an address. */
  find(url: string): Destination {
    const known = this.#destinations.get(url)
    if (known) return known
    if (this.#destinations.size >= rememberedAddresses) this.#forget()
    const destination = this.#locate(parse(url))
    this.#destinations.set(url, destination)
    return destination
  }

  #locate(url: URL): Destination {
    const { wayTo, ...shared } = this.#options
    const { open, proxy } = wayTo(url)
    const { origin } = url
    const pool = this.#pools.get(origin) ?? new Pool({ origin, open, ...shared })
    this.#pools.set(origin, pool)
    return destinationOf(url, proxy, pool)
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
    throw faultOf(error, 'connecting')
  }
}
