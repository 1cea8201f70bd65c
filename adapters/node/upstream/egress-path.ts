import { UpstreamFault } from '../../../src/core/failure.ts'
import type { Egress } from '../../../src/index.ts'
import { type Connector, createDirectConnector } from './connect.ts'
import { createProxyConnector, type Proxy, parseProxy } from './proxy.ts'
import { isLoopback, type ProxyRules } from './proxy-rules.ts'
import { createTrustContext } from './trust.ts'

/** How the host reaches a URL: the connector, and the proxy if there is one. */
export interface EgressPath {
  readonly connector: Connector
  readonly proxy: Proxy | undefined
}

/** Returns a function that finds the path to a URL, by the provider's settings or the host's rules. */
export function createEgressPaths(
  rules: ProxyRules,
  { proxy: own, ca }: Egress = {},
): (url: URL) => EgressPath {
  const connector =
    ca === undefined
      ? createDirectConnector()
      : createDirectConnector({ secureContext: createTrustContext(ca) })
  const proxyFor = own === undefined ? rules.proxyFor : always(own)
  return (url) => {
    const proxy = proxyFor(url)
    return { connector: proxy ? createProxyConnector(proxy, connector) : connector, proxy }
  }
}

/** Returns rules with one proxy for every URL but loopback; an empty address means no proxy. */
function always(address: string): ProxyRules['proxyFor'] {
  const proxy = parseProxy(address)
  if (!proxy && address !== '') {
    throw new UpstreamFault({ kind: 'network', reason: 'ERR_INVALID_URL', phase: 'connecting' })
  }
  return (url) => (isLoopback(url) ? undefined : proxy)
}
