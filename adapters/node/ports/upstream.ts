import type { Socket } from 'node:net'
import type { Egress, UpstreamPort, UpstreamRequest } from '../../../src/index.ts'
import { createEgressPaths } from '../upstream/egress-path.ts'
import { OriginPools } from '../upstream/origin-pools.ts'
import type { Pool } from '../upstream/pool.ts'
import { type ProxyRules, readProxyRules } from '../upstream/proxy-rules.ts'
import { sendRequest } from '../upstream/send-request.ts'

export interface NodeUpstream {
  readonly send: UpstreamPort
  /** Number of sockets to upstreams: connecting, in use or idle. */
  readonly openSockets: number
  /** Closes every connection at once; running calls fail as `network`. */
  close(): void
}

/**
 * Creates the upstream port on undici: HTTP/1.1, keep-alive, no redirects, and no retries except one
 * immediate resend when an idle connection turns out to be closed.
 */
export function nodeUpstream(rules: ProxyRules = readProxyRules({})): NodeUpstream {
  const sockets = new Set<Socket>()
  const pools = new Set<Pool>()
  const egressPools = new WeakMap<Egress, EgressPools>()

  const createPools = (egress?: Egress): EgressPools => {
    const pathTo = createEgressPaths(rules, egress)
    return new EgressPools(
      (connectTimeout) => new OriginPools({ pathTo, connectTimeout, sockets, pools }),
    )
  }
  const defaultPools = createPools()
  const findPools = ({ egress }: UpstreamRequest): EgressPools => {
    if (!egress) return defaultPools
    let exit = egressPools.get(egress)
    if (!exit) {
      exit = createPools(egress)
      egressPools.set(egress, exit)
    }
    return exit
  }

  return {
    send: (request) =>
      sendRequest(request, () => findPools(request).poolsFor(request).find(request.url)),
    get openSockets() {
      return sockets.size
    },
    close() {
      for (const pool of pools) pool.close()
    },
  }
}

/** The connection pools of all calls with the same egress settings, by connect timeout. */
class EgressPools {
  readonly #create: (connectTimeout: number) => OriginPools
  readonly #shared = new Map<number, OriginPools>()
  readonly #dedicated = new Map<number, OriginPools>()

  constructor(create: (connectTimeout: number) => OriginPools) {
    this.#create = create
  }

  poolsFor({ connectTimeout, dedicatedPool }: UpstreamRequest): OriginPools {
    const clients = dedicatedPool === true ? this.#dedicated : this.#shared
    let found = clients.get(connectTimeout)
    if (!found) {
      found = this.#create(connectTimeout)
      clients.set(connectTimeout, found)
    }
    return found
  }
}
