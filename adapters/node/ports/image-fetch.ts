import { isIP, type LookupFunction } from 'node:net'
import { UpstreamFault } from '../../../src/core/failure.ts'
import type { ImageFetchPort, PinnedRequest } from '../../../src/index.ts'
import { directOpener } from '../upstream/connect.ts'
import { Pool } from '../upstream/pool.ts'
import type { ProxyRules } from '../upstream/proxy-rules.ts'
import { type Resolve, resolver } from '../upstream/resolver.ts'
import { type Destination, destinationOf, sendRequest } from '../upstream/send-request.ts'
import { type Way, wayFinder } from '../upstream/way.ts'
import { longestDelay } from './clock.ts'

export interface ImageFetchOptions {
  readonly rules: ProxyRules
  readonly resolve?: Resolve | undefined
}

/**
 * Remote images over connections of their own, each to the one address that it was given: between
 * the check of a name and the connection, the name is not resolved again.
 */
export function nodeImageFetch({ rules, resolve = resolver() }: ImageFetchOptions): ImageFetchPort {
  const wayTo = wayFinder(rules)
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
          connectTimeout: longestDelay,
        },
        () => destinationFor(request, wayTo),
      ),
  }
}

function destinationFor(
  { url: text, address }: PinnedRequest,
  wayTo: (url: URL) => Way,
): Destination {
  const url = new URL(text)
  const { open, proxy } = wayTo(url)
  const pool = new Pool({
    origin: url.origin,
    open: proxy ? open : directOpener({ lookup: pinned(address) }),
    connectTimeout: longestDelay,
    sockets: new Set(),
    pools: new Set(),
    // A kept connection could lead elsewhere than to this address.
    keepsIdle: false,
  })
  return destinationOf(url, proxy, pool)
}

/** Resolves every name to the one address. */
function pinned(address: string | undefined): LookupFunction {
  if (address === undefined) {
    throw new UpstreamFault({ kind: 'network', reason: 'ENOTFOUND', phase: 'connecting' })
  }
  const family = isIP(address)
  return (_, { all }, callback) =>
    all ? callback(null, [{ address, family }]) : callback(null, address, family)
}
