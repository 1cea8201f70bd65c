import type { Socket } from 'node:net'
import type { Egress, UpstreamPort, UpstreamRequest } from '../../../src/index.ts'
import { Clients } from '../upstream/clients.ts'
import type { Pool } from '../upstream/pool.ts'
import { type ProxyRules, proxyRules } from '../upstream/proxy-rules.ts'
import { sendRequest } from '../upstream/send-request.ts'
import { wayFinder } from '../upstream/way.ts'

export interface NodeUpstream {
  readonly send: UpstreamPort
  /** Sockets to upstreams that are connecting, in use or idle. */
  readonly openSockets: number
  /** Closes every connection at once; what is running fails as `network`. */
  close(): void
}

/**
 * Upstream calls over undici: HTTP/1.1, connections kept alive, no redirects, no retries but one
 * immediate resend when an idle connection turns out to be closed.
 */
export function nodeUpstream(rules: ProxyRules = proxyRules({})): NodeUpstream {
  const sockets = new Set<Socket>()
  const pools = new Set<Pool>()
  const exits = new WeakMap<Egress, Exit>()

  const exitFor = (egress?: Egress): Exit => {
    const wayTo = wayFinder(rules, egress)
    return new Exit((connectTimeout) => new Clients({ wayTo, connectTimeout, sockets, pools }))
  }
  const common = exitFor()
  const exitOf = ({ egress }: UpstreamRequest): Exit => {
    if (!egress) return common
    let exit = exits.get(egress)
    if (!exit) {
      exit = exitFor(egress)
      exits.set(egress, exit)
    }
    return exit
  }

  return {
    send: (request) =>
      sendRequest(request, () => exitOf(request).clientsFor(request).find(request.url)),
    get openSockets() {
      return sockets.size
    },
    close() {
      for (const pool of pools) pool.close()
    },
  }
}

/** The clients of calls that leave the host in the same way, by their connect timeout. */
class Exit {
  readonly #create: (connectTimeout: number) => Clients
  readonly #shared = new Map<number, Clients>()
  readonly #own = new Map<number, Clients>()

  constructor(create: (connectTimeout: number) => Clients) {
    this.#create = create
  }

  clientsFor({ connectTimeout, dedicatedPool }: UpstreamRequest): Clients {
    const clients = dedicatedPool === true ? this.#own : this.#shared
    let found = clients.get(connectTimeout)
    if (!found) {
      found = this.#create(connectTimeout)
      clients.set(connectTimeout, found)
    }
    return found
  }
}
