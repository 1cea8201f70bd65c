import { isIP, type LookupFunction } from 'node:net'
import { UpstreamFault } from '../../../src/core/failure.ts'
import { maxTimerDelay } from '../../../src/core/ids.ts'
import type { ImageFetchPort, PinnedRequest } from '../../../src/index.ts'
import { createDirectConnector } from '../upstream/connect.ts'
import { createEgressPaths, type EgressPath } from '../upstream/egress-path.ts'
import { Pool } from '../upstream/pool.ts'
import type { ProxyRules } from '../upstream/proxy-rules.ts'
import { createResolver, type ResolveHost } from '../upstream/resolver.ts'
import { type Destination, sendRequest, toDestination } from '../upstream/send-request.ts'

export interface ImageFetchOptions {
  readonly rules: ProxyRules
  readonly resolve?: ResolveHost | undefined
}

/**
 * Fetches remote images, each over a connection of its own to one given address: the name is not
 * resolved again between its check and the connection, which would allow DNS rebinding.
 */
export function nodeImageFetch({
  rules,
  resolve = createResolver(),
}: ImageFetchOptions): ImageFetchPort {
  const pathTo = createEgressPaths(rules)
  return {
    resolve: async (host, { url, signal }) =>
      rules.proxyFor(url) ? 'at-proxy' : resolve(host, signal),
    fetch: (request) =>
      sendRequest(
        {
          ...request,
          method: 'GET',
          headers: { ...request.headers, 'accept-encoding': 'identity' },
          // The caller limits the time of the whole fetch.
          connectTimeout: maxTimerDelay,
        },
        () => pinDestination(request, pathTo),
      ),
  }
}

function pinDestination(
  { url: text, address }: PinnedRequest,
  pathTo: (url: URL) => EgressPath,
): Destination {
  const url = new URL(text)
  const { connector, proxy } = pathTo(url)
  const pool = new Pool({
    origin: url.origin,
    connector: proxy ? connector : createDirectConnector({ lookup: createPinnedLookup(address) }),
    connectTimeout: maxTimerDelay,
    sockets: new Set(),
    pools: new Set(),
    // An idle connection to the same origin may have another address.
    canReuse: false,
  })
  return toDestination(url, proxy, pool)
}

/** Returns a lookup function that resolves every name to one address. */
function createPinnedLookup(address: string | undefined): LookupFunction {
  if (address === undefined) {
    throw new UpstreamFault({ kind: 'network', reason: 'ENOTFOUND', phase: 'connecting' })
  }
  const family = isIP(address)
  return (_, { all }, callback) =>
    all ? callback(null, [{ address, family }]) : callback(null, address, family)
}
