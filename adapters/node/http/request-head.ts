import type { IncomingMessage } from 'node:http'
import { GatewayError, invalid } from '../../../src/core/errors.ts'

const hostPattern = /^(?:[\w.-]+|\[[\dA-Fa-f:.]+\])(?::\d{1,5})?$/

/** One leading slash, then visible ASCII; a backslash would become a slash, and `#` end the path. */
const targetPattern = /^\/(?!\/)[\x21\x22\x24-\x5b\x5d-\x7e]*$/

/**
 * What keeps a request from the gateway. Host and target become a URL further on, and a Host like
 * `gw/health?` would there replace the path; so nothing is let through that is not plainly both.
 */
export function problemOf(request: IncomingMessage): GatewayError | undefined {
  if (!hasOneGoodHost(request)) return invalid('the Host header is missing or malformed')
  if (!targetPattern.test(request.url ?? '')) {
    return invalid('the request target must be a path of visible ASCII characters')
  }
  const encoding = request.headers['content-encoding']
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity') {
    return new GatewayError('LM-1001', 'compressed request bodies are not supported', {
      status: 415,
    })
  }
  return undefined
}

/** HTTP/1.0 knows no Host header, and some load balancers check a server's health with it. */
function hasOneGoodHost({ rawHeaders, headers, httpVersion }: IncomingMessage): boolean {
  let hosts = 0
  for (let name = 0; name < rawHeaders.length; name += 2) {
    if (rawHeaders[name]?.length === 4 && rawHeaders[name]?.toLowerCase() === 'host') hosts++
  }
  if (hosts === 0) return httpVersion === '1.0'
  return hosts === 1 && hostPattern.test(headers.host ?? '')
}
