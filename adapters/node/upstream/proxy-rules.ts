import { BlockList, isIP } from 'node:net'
import type { Environment } from '../../../src/index.ts'
import { withoutBrackets } from './host-name.ts'
import { type Proxy, proxyAt } from './proxy.ts'

/** Which proxy the environment wants for an address. */
export interface ProxyRules {
  /** Undefined where the call goes to the address itself. */
  proxyFor(url: URL): Proxy | undefined
  /** What is in force, for the log; undefined when no proxy is. */
  readonly shown: Readonly<Record<string, string>> | undefined
}

/** A variable that holds no address of a proxy. Its message does not repeat the value. */
export class ProxySettingError extends Error {
  override readonly name = 'ProxySettingError'
}

/**
 * `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in lower case or in upper case. Throws a
 * `ProxySettingError`.
 */
export function proxyRules(env: Environment): ProxyRules {
  const https = proxyIn(env, 'https_proxy')
  const http = proxyIn(env, 'http_proxy')
  const list = valueIn(env, 'no_proxy') ?? ''
  const isExempt = exemptions(list)
  const shown = {
    ...(https && { https_proxy: https.shown }),
    ...(http && { http_proxy: http.shown }),
    ...(list !== '' && { no_proxy: list }),
  }
  return {
    proxyFor(url) {
      const proxy = url.protocol === 'https:' ? https : http
      return proxy && !isLoopback(url) && !isExempt(url) ? proxy : undefined
    },
    shown: https || http ? shown : undefined,
  }
}

/** Where both spellings are set, the one in lower case counts, as for other programs. */
function valueIn(env: Environment, name: string): string | undefined {
  return env[name] || env[name.toUpperCase()] || undefined
}

function proxyIn(env: Environment, name: string): Proxy | undefined {
  const address = valueIn(env, name)
  if (address === undefined) return undefined
  const proxy = proxyAt(address)
  if (!proxy) throw new ProxySettingError(`${name.toUpperCase()} must be an http or https URL`)
  return proxy
}

const loopback = new BlockList()
loopback.addSubnet('127.0.0.0', 8, 'ipv4')
loopback.addAddress('::1', 'ipv6')
// A connection to no address in particular reaches this machine.
loopback.addAddress('0.0.0.0', 'ipv4')
loopback.addAddress('::', 'ipv6')

/** True for this machine itself, which no proxy can reach. */
export function isLoopback({ hostname }: URL): boolean {
  const host = hostIn(hostname)
  return host === 'localhost' || host.endsWith('.localhost') || isIn(loopback, host)
}

/** A name in lower case without a dot at its end, or an address without brackets. */
function hostIn(hostname: string): string {
  return withoutBrackets(hostname).replace(/\.$/, '')
}

function isIn(list: BlockList, host: string): boolean {
  const family = isIP(host)
  return family !== 0 && list.check(host, family === 4 ? 'ipv4' : 'ipv6')
}

type Exemption = (host: string, port: string) => boolean

/**
 * Judges addresses by a list such as `internal.example, .corp, 10.0.0.0/8, host:8443`. A name stands
 * for its subdomains too, with a dot before it or not; `*` is every address.
 */
function exemptions(list: string): (url: URL) => boolean {
  const rules = list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(exemption)
  return ({ hostname, port, protocol }) => {
    const host = hostIn(hostname)
    const actual = port || (protocol === 'https:' ? '443' : '80')
    return rules.some((rule) => rule(host, actual))
  }
}

function exemption(entry: string): Exemption {
  if (entry === '*') return () => true
  const [, address = '', bits] = /^\[?([\da-f.:]+)\]?(?:\/(\d{1,3}))?$/.exec(entry) ?? []
  const family = isIP(address)
  if (family !== 0) return addresses(address, family, bits)
  const [, name = '', port] = /^(?:\*?\.)?(.*?)\.?(?::(\d+))?$/.exec(entry) ?? []
  const exact = withoutBrackets(name)
  return (host, actual) =>
    (port === undefined || port === actual) && (host === exact || host.endsWith(`.${exact}`))
}

function addresses(address: string, family: number, bits: string | undefined): Exemption {
  const list = new BlockList()
  const type = family === 4 ? 'ipv4' : 'ipv6'
  const most = family === 4 ? 32 : 128
  // A mask that is none exempts the one address.
  list.addSubnet(address, Math.min(Number(bits ?? most), most), type)
  return (host) => isIn(list, host)
}
