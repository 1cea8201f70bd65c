import type { IncomingMessage } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'
import { domainToUnicode } from 'node:url'
import { GatewayError, invalid } from '../../../src/core/errors.ts'

/** The checked head of a request: its path and query as sent, or `*`; or the error to respond with. */
export type CheckedHead = { readonly target: string } | { readonly problem: GatewayError }

/**
 * Checks the Host header, the target and the content coding of a request. Only a plain host and path
 * pass, because the adapter builds a URL from any text, and a crafted host could replace the path.
 */
export function checkRequestHead(request: IncomingMessage): CheckedHead {
  const { method, url = '', headers } = request
  if (!hasValidHost(request)) return { problem: invalid('the Host header is missing or malformed') }
  const target = extractPath(url)
  if (target === undefined || !pathPattern.test(target)) {
    if (url === '*' && method === 'OPTIONS') return { target: url }
    return { problem: invalid('the request target must be a path of visible ASCII characters') }
  }
  const encoding = headers['content-encoding']
  if (encoding === undefined || encoding.toLowerCase() === 'identity') return { target }
  const message = 'compressed request bodies are not supported'
  return { problem: new GatewayError('LM-1001', message, { status: 415 }) }
}

/** Visible ASCII without backslash, which URLs turn into a slash, and without `#`, which ends a path. */
const pathPattern = /^\/[\x21\x22\x24-\x5b\x5d-\x7e]*$/

/**
 * Returns the path and query of a request target, in origin form (`/path`) or absolute form
 * (`http://host/path`, whose host is ignored like the Host header). Returns undefined otherwise.
 */
export function extractPath(url: string): string | undefined {
  if (url.startsWith('/')) return url
  const [, host = '', path = ''] = /^https?:\/\/([^/?]*)(.*)$/i.exec(url) ?? []
  if (!isHost(host)) return undefined
  return path.startsWith('/') ? path : `/${path}`
}

/** HTTP/1.0 has no Host header, and some load balancers use it for health checks. */
function hasValidHost({ rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  let hosts = 0
  for (let name = 0; name < rawHeaders.length; name += 2) {
    if (rawHeaders[name]?.length === 4 && rawHeaders[name]?.toLowerCase() === 'host') hosts++
  }
  if (hosts === 0) return httpVersion === '1.0'
  if (hosts !== 1 || headers.host === undefined) return false
  if (headers.host !== lastValidHost) {
    if (!isHost(headers.host)) return false
    lastValidHost = headers.host
  }
  return true
}

/** Most requests have the same host. To check it each time takes 1 % of the time of a small request. */
let lastValidHost: string | undefined

const hostPattern = /^(?:([\w.-]+)|\[([\dA-Fa-f:.]+)\])(?::(\d{1,5}))?$/

/** True for a host name or address with an optional port. Node's URL parser differs by version. */
function isHost(text: string): boolean {
  const [, name, address = '', port = '0'] = hostPattern.exec(text) ?? []
  if (Number(port) > 65_535) return false
  return name === undefined ? isIPv6(address) : isName(name)
}

function isName(name: string): boolean {
  // A host that ends in a number, even with a dot after it, must be an IPv4 address.
  if (/(?:^|\.)(?:\d+|0x[\da-f]*)\.?$/i.test(name)) return isIPv4(name)
  if (!/(?:^|\.)xn--/i.test(name)) return true
  const unicode = domainToUnicode(name)
  return unicode !== '' && !/(?:^|\.)xn--/i.test(unicode)
}
