import { asHeaderList, type HeaderList } from '../core/ports.ts'
import type { Reply } from '../core/reply.ts'

/** The parts of a request that CORS depends on. */
export interface CrossOrigin {
  /** `server.cors_origins`. */
  readonly origins: readonly string[]
  /** The `Origin` header. */
  readonly origin: string | undefined
  /** The path, with or without its query. */
  readonly target: string
}

/** Adds the CORS headers for allowed origins. The admin API never has them. */
export function withCors(reply: Reply, { origins, origin, target }: CrossOrigin): Reply {
  if (origins.length === 0 || target.startsWith('/admin')) return reply
  const headers = [...reply.headers, 'vary', 'origin']
  const allowed = findAllowedOrigin(origins, origin)
  if (allowed !== undefined) {
    headers.push('access-control-allow-origin', allowed)
    headers.push('access-control-expose-headers', listExposedNames(reply.headers).join(', '))
  }
  return { ...reply, headers: asHeaderList(headers) }
}

/** Creates the response to a preflight request; undefined for any other request. */
export function preflightReply(request: Request, cross: CrossOrigin): Reply | undefined {
  if (request.method !== 'OPTIONS' || cross.target.startsWith('/admin')) return undefined
  const isPreflight = request.headers.has('access-control-request-method')
  if (!isPreflight || findAllowedOrigin(cross.origins, cross.origin) === undefined) return undefined
  // SDKs send headers of their own, so the list is echoed; `*` would not cover Authorization.
  const asked = request.headers.get('access-control-request-headers') ?? ''
  const headers = ['access-control-allow-methods', 'GET, HEAD, POST']
  headers.push('access-control-allow-headers', asked, 'access-control-max-age', preflightAge)
  headers.push('vary', 'access-control-request-headers')
  return { status: 204, headers: asHeaderList(headers), body: null }
}

/** Seconds for which a browser may cache the preflight response; the maximum of Chrome. */
const preflightAge = '7200'

function findAllowedOrigin(origins: readonly string[], origin: string | undefined) {
  if (origins.includes('*')) return '*'
  return origin !== undefined && origins.includes(origin) ? origin : undefined
}

const alwaysExposed = ['x-request-id', 'request-id', 'retry-after', 'x-should-retry']

/** Lists the headers that SDKs read: a page sees only headers that are exposed by name. */
function listExposedNames(headers: HeaderList): readonly string[] {
  const own = headers.filter((name, at) => at % 2 === 0 && /^x-(?:gateway|ratelimit)-/.test(name))
  return [...alwaysExposed, ...own]
}
