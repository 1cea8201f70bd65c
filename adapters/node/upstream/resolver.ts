import { promises as dns } from 'node:dns'
import { readFile } from 'node:fs/promises'
import { UpstreamFault } from '../../../src/core/failure.ts'
import type { CancelSignal } from '../../../src/index.ts'
import { abortFault, toUpstreamFault } from './errors.ts'

/** Resolves a host name to all its addresses, IPv4 first. Rejects with an `UpstreamFault`. */
export type ResolveHost = (host: string, signal: CancelSignal) => Promise<readonly string[]>

export interface ResolverOptions {
  /** Name servers as `address:port`. Default: those of the system. */
  readonly servers?: readonly string[] | undefined
  /** Path of a hosts file, which takes precedence. Default: `/etc/hosts`. */
  readonly hosts?: string | undefined
}

/** Timeout of a query to one name server, in milliseconds, and the number of tries. */
const queryLimits = { timeout: 2_000, tries: 2 }

/**
 * Creates a resolver that queries DNS directly. The resolver of the system would block Node's thread
 * pool, on which all other look-ups and file reads run. Search domains do not apply.
 */
export function createResolver({
  servers,
  hosts = '/etc/hosts',
}: ResolverOptions = {}): ResolveHost {
  return async (host, signal) => {
    const name = host.replace(/\.$/, '').toLowerCase()
    const listed = findInHosts(await readFile(hosts, 'utf8').catch(() => ''), name)
    if (listed.length > 0) return listed
    if (signal.aborted) throw abortFault()
    const queries = new dns.Resolver(queryLimits)
    if (servers) queries.setServers(servers)
    const cancel = () => queries.cancel()
    signal.addEventListener('abort', cancel)
    try {
      return await queryAddresses(name, queries)
    } finally {
      signal.removeEventListener('abort', cancel)
    }
  }
}

async function queryAddresses(name: string, queries: dns.Resolver): Promise<readonly string[]> {
  const answers = await Promise.allSettled([queries.resolve4(name), queries.resolve6(name)])
  const found = answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []))
  if (found.length > 0) return found
  const [first] = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason] : []))
  if (first) throw toUpstreamFault(first, 'connecting')
  throw new UpstreamFault({ kind: 'network', reason: 'ENOTFOUND', phase: 'connecting' })
}

function findInHosts(hosts: string, name: string): readonly string[] {
  return hosts.split('\n').flatMap((line) => {
    const [address, ...names] = line.replace(/#.*/, '').trim().split(/\s+/)
    return address && names.some((each) => each.toLowerCase() === name) ? [address] : []
  })
}
