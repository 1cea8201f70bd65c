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
 * Remote images over connections of their own, each to the one address that it was given: between
 * the check of a name and the connection, the name is not resolved again.
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
          // The time of a fetch is for its caller to measure.
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
    // A kept connection could lead elsewhere than to this address.
    canReuse: false,
  })
  return toDestination(url, proxy, pool)
}

/** Resolves every name to the one address. */
function createPinnedLookup(address: string | undefined): LookupFunction {
  if (address === undefined) {
    throw new UpstreamFault({ kind: 'network', reason: 'ENOTFOUND', phase: 'connecting' })
  }
  const family = isIP(address)
  return (_, { all }, callback) =>
    all ? callback(null, [{ address, family }]) : callback(null, address, family)
}
