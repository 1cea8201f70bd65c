import type { Socket } from 'node:net'
import type { Millis } from '../../../src/core/ids.ts'
import type { EgressPath } from './egress-path.ts'
import { toUpstreamFault } from './errors.ts'
import { Pool } from './pool.ts'
import { type Destination, toDestination } from './send-request.ts'

export interface OriginPoolsOptions {
  readonly pathTo: (url: URL) => EgressPath
  readonly connectTimeout: Millis
  readonly sockets: Set<Socket>
  readonly pools: Set<Pool>
}

/** Maximum number of cached URLs: far more than models, and a bound if URLs ever come from outside. */
const maxRememberedUrls = 1_000

/** The connection pools of all origins that share an egress path and a connect timeout. */
export class OriginPools {
  readonly #options: OriginPoolsOptions
  readonly #pools = new Map<string, Pool>()
  readonly #destinations = new Map<string, Destination>()

  constructor(options: OriginPoolsOptions) {
    this.#options = options
  }

  /** Returns the destination of a URL. Throws an `UpstreamFault` when `url` is not a URL. */
  find(url: string): Destination {
    const known = this.#destinations.get(url)
    if (known) return known
    if (this.#destinations.size >= maxRememberedUrls) this.#forget()
    const destination = this.#locate(parse(url))
    this.#destinations.set(url, destination)
    return destination
  }

  #locate(url: URL): Destination {
    const { pathTo, ...shared } = this.#options
    const { connector, proxy } = pathTo(url)
    const { origin } = url
    const pool = this.#pools.get(origin) ?? new Pool({ origin, connector, ...shared })
    this.#pools.set(origin, pool)
    return toDestination(url, proxy, pool)
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
    throw toUpstreamFault(error, 'connecting')
  }
}
