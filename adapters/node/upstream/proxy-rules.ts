import { BlockList, isIP } from 'node:net'
import type { Environment } from '../../../src/index.ts'
import { type Proxy, parseProxy, stripBrackets } from './proxy.ts'

/** Which proxy the environment wants for an address. */
export interface ProxyRules {
  /** Undefined where the call goes to the address itself. */
  proxyFor(url: URL): Proxy | undefined
  /** What is in force, for the log; undefined when no proxy is. */
  readonly logFields: Readonly<Record<string, string>> | undefined
}

/** A variable that holds no address of a proxy. Its message does not repeat the value. */
export class ProxySettingError extends Error {
  override readonly name = 'ProxySettingError'
}

/**
 * `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in lower case or in upper case. Throws a
 * `ProxySettingError`.
 */
export function readProxyRules(env: Environment): ProxyRules {
  const https = readProxy(env, 'https_proxy')
  const http = readProxy(env, 'http_proxy')
  const list = readVariable(env, 'no_proxy') ?? ''
  const isExempt = parseExemptions(list)
  const shown = {
    ...(https && { https_proxy: https.maskedUrl }),
    ...(http && { http_proxy: http.maskedUrl }),
    ...(list !== '' && { no_proxy: list }),
  }
  return {
    proxyFor(url) {
      const proxy = url.protocol === 'https:' ? https : http
      return proxy && !isLoopback(url) && !isExempt(url) ? proxy : undefined
    },
    logFields: https || http ? shown : undefined,
  }
}

/** Where both spellings are set, the one in lower case counts, as for other programs. */
function readVariable(env: Environment, name: string): string | undefined {
  return env[name] || env[name.toUpperCase()] || undefined
}

function readProxy(env: Environment, name: string): Proxy | undefined {
  const address = readVariable(env, name)
  if (address === undefined) return undefined
  const proxy = parseProxy(address)
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
  const host = normalizeHost(hostname)
  return host === 'localhost' || host.endsWith('.localhost') || isListed(loopback, host)
}

/** A name in lower case without a dot at its end, or an address without brackets. */
function normalizeHost(hostname: string): string {
  return stripBrackets(hostname).replace(/\.$/, '')
}

function isListed(list: BlockList, host: string): boolean {
  const family = isIP(host)
  return family !== 0 && list.check(host, family === 4 ? 'ipv4' : 'ipv6')
}

type Exemption = (host: string, port: string) => boolean

/**
 * Judges addresses by a list such as `internal.example, .corp, 10.0.0.0/8, host:8443`. A name stands
 * for its subdomains too, with a dot before it or not; `*` is every address.
 */
function parseExemptions(list: string): (url: URL) => boolean {
  const rules = list
    .toLowerCase()
    .split(/[\s,]+/)
    .filter(Boolean)
    .map(parseExemption)
  return ({ hostname, port, protocol }) => {
    const host = normalizeHost(hostname)
    const actual = port || (protocol === 'https:' ? '443' : '80')
    return rules.some((rule) => rule(host, actual))
  }
}

function parseExemption(entry: string): Exemption {
  if (entry === '*') return () => true
  const [, address = '', bits] = /^\[?([\da-f.:]+)\]?(?:\/(\d{1,3}))?$/.exec(entry) ?? []
  const family = isIP(address)
  if (family !== 0) return exemptAddresses(address, family, bits)
  const [, name = '', port] = /^(?:\*?\.)?(.*?)\.?(?::(\d+))?$/.exec(entry) ?? []
  const exact = stripBrackets(name)
  return (host, actual) =>
    (port === undefined || port === actual) && (host === exact || host.endsWith(`.${exact}`))
}

function exemptAddresses(address: string, family: number, bits: string | undefined): Exemption {
  const list = new BlockList()
  const type = family === 4 ? 'ipv4' : 'ipv6'
  const maxBits = family === 4 ? 32 : 128
  // A mask that is none exempts the one address.
  list.addSubnet(address, Math.min(Number(bits ?? maxBits), maxBits), type)
  return (host) => isListed(list, host)
}
