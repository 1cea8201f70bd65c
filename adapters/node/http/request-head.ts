import type { IncomingMessage } from 'node:http'
import { isIPv4, isIPv6 } from 'node:net'
import { domainToUnicode } from 'node:url'
import { GatewayError, invalid } from '../../../src/core/errors.ts'

/**
 * Where a request goes: its path and query as they were written, or `*`, which is the server as a
 * whole. Or what keeps it from the gateway.
 */
export type RequestHead = { readonly target: string } | { readonly problem: GatewayError }

/**
 * Reads where a request goes. Lets only a plain host and path through, because the adapter builds
 * an address from any text, and a host could replace the path.
 */
export function readRequestHead(request: IncomingMessage): RequestHead {
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

/** Visible ASCII; a backslash would become a slash in an address, and `#` end the path. */
const pathPattern = /^\/[\x21\x22\x24-\x5b\x5d-\x7e]*$/

/**
 * Path and query of a request target, also of one in the form for proxies: `http://host/path`, whose
 * host counts as little as the Host header does. Undefined for any other form.
 */
export function extractPath(url: string): string | undefined {
  if (url.startsWith('/')) return url
  const [, host = '', path = ''] = /^https?:\/\/([^/?]*)(.*)$/i.exec(url) ?? []
  if (!isHost(host)) return undefined
  return path.startsWith('/') ? path : `/${path}`
}

/** HTTP/1.0 knows no Host header, and some load balancers check a server's health with it. */
function hasValidHost({ rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  let hosts = 0
  for (let name = 0; name < rawHeaders.length; name += 2) {
    if (rawHeaders[name]?.length === 4 && rawHeaders[name]?.toLowerCase() === 'host') hosts++
  }
  if (hosts === 0) return httpVersion === '1.0'
  return hosts === 1 && isHost(headers.host ?? '')
}

const hostPattern = /^(?:([\w.-]+)|\[([\dA-Fa-f:.]+)\])(?::(\d{1,5}))?$/

/** A host as URLs have it, and perhaps a port. Versions of Node differ in what their parser takes. */
function isHost(text: string): boolean {
  const [, name, address = '', port = '0'] = hostPattern.exec(text) ?? []
  if (Number(port) > 65_535) return false
  return name === undefined ? isIPv6(address) : isName(name)
}

function isName(name: string): boolean {
  // What ends in a number is an IPv4 address or nothing.
  if (/(?:^|\.)\d+$/.test(name)) return isIPv4(name)
  if (!/(?:^|\.)xn--/i.test(name)) return true
  const unicode = domainToUnicode(name)
  return unicode !== '' && !/(?:^|\.)xn--/i.test(unicode)
}
