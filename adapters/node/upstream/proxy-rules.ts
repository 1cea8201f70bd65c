import { BlockList, isIP } from 'node:net'
import type { Environment } from '../../../src/index.ts'
import { type Proxy, parseProxy, stripBrackets } from './proxy.ts'

/** The proxies that the environment sets, by URL. */
export interface ProxyRules {
  /** Returns the proxy for a URL; undefined for a direct connection. */
  proxyFor(url: URL): Proxy | undefined
  /** The variables in force, without credentials; undefined when no proxy is set. */
  readonly logFields: Readonly<Record<string, string>> | undefined
}

/** A proxy variable that is not a URL. The message does not contain the value. */
export class ProxySettingError extends Error {
  override readonly name = 'ProxySettingError'
}

/**
 * Reads `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`, in lower or upper case. Throws a
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

/** If both spellings are set, lower case wins, as in curl. */
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
// A connection to the unspecified address reaches this machine.
loopback.addAddress('0.0.0.0', 'ipv4')
loopback.addAddress('::', 'ipv6')

/** True for the local machine, which a proxy cannot reach. */
export function isLoopback({ hostname }: URL): boolean {
  const host = normalizeHost(hostname)
  return host === 'localhost' || host.endsWith('.localhost') || isListed(loopback, host)
}

/** Removes the brackets of an IPv6 address and the trailing dot of a name. */
function normalizeHost(hostname: string): string {
  return stripBrackets(hostname).replace(/\.$/, '')
}

function isListed(list: BlockList, host: string): boolean {
  const family = isIP(host)
  return family !== 0 && list.check(host, family === 4 ? 'ipv4' : 'ipv6')
}

type Exemption = (host: string, port: string) => boolean

/**
 * Parses a list such as `internal.example, .corp, 10.0.0.0/8, host:8443` into a check of URLs. A name,
 * with or without a leading dot, includes its subdomains; `*` matches every URL.
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
  // An oversized mask exempts the single address.
  list.addSubnet(address, Math.min(Number(bits ?? maxBits), maxBits), type)
  return (host) => isListed(list, host)
}
