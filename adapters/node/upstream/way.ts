import { UpstreamFault } from '../../../src/core/failure.ts'
import type { Egress } from '../../../src/index.ts'
import { directOpener, type Opener } from './connect.ts'
import { type Proxy, proxyAt, proxyOpener } from './proxy.ts'
import { isLoopback, type ProxyRules } from './proxy-rules.ts'
import { trusting } from './trust.ts'

/** How connections to an address are opened. */
export interface Way {
  readonly open: Opener
  /** The proxy on the way; undefined when there is none. */
  readonly proxy: Proxy | undefined
}

/** Finds the way to an address: by the settings of a provider, else by the host's rules. */
export function wayFinder(rules: ProxyRules, { proxy: own, ca }: Egress = {}): (url: URL) => Way {
  const open = ca === undefined ? directOpener() : directOpener({ secureContext: trusting(ca) })
  const proxyFor = own === undefined ? rules.proxyFor : always(own)
  return (url) => {
    const proxy = proxyFor(url)
    return { open: proxy ? proxyOpener(proxy, open) : open, proxy }
  }
}

/** An empty address is no proxy. */
function always(address: string): ProxyRules['proxyFor'] {
  const proxy = proxyAt(address)
  if (!proxy && address !== '') {
    throw new UpstreamFault({ kind: 'network', reason: 'ERR_INVALID_URL', phase: 'connecting' })
  }
  return (url) => (isLoopback(url) ? undefined : proxy)
}
