import { promises as dns } from 'node:dns'
import { readFile } from 'node:fs/promises'
import { UpstreamFault } from '../../../src/core/failure.ts'
import type { CancelSignal } from '../../../src/index.ts'
import { abortFault, toUpstreamFault } from './errors.ts'

/** Finds every address of a host name, IPv4 first. Rejects with an `UpstreamFault`. */
export type ResolveHost = (host: string, signal: CancelSignal) => Promise<readonly string[]>

export interface ResolverOptions {
  /** Name servers, `address:port`; those of the system by default. */
  readonly servers?: readonly string[] | undefined
  /** A file in the form of `/etc/hosts`, which is asked first. */
  readonly hosts?: string | undefined
}

/** One name server has so long for an answer, in milliseconds, and is asked so often. */
const queryLimits = { timeout: 2_000, tries: 2 }

/**
 * Resolves names without the system's resolver, whose look-ups block the few threads on which all
 * other names are resolved and all files are read. Search domains do not apply.
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
