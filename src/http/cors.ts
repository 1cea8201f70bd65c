import type { HeaderList } from '../core/ports.ts'
import type { Reply } from '../core/reply.ts'

/** A request as far as the rules for pages of other origins look at it. */
export interface CrossOrigin {
  /** `server.cors_origins`. */
  readonly origins: readonly string[]
  /** The `Origin` header; undefined when it is absent, or was not read. */
  readonly origin: string | undefined
  /** The path, with or without its query. */
  readonly target: string
}

/** Adds the headers that let listed origins read an answer. The admin plane is never opened. */
export function withCors(reply: Reply, { origins, origin, target }: CrossOrigin): Reply {
  if (origins.length === 0 || target.startsWith('/admin')) return reply
  const headers = [...reply.headers, 'vary', 'origin']
  const allowed = findAllowedOrigin(origins, origin)
  if (allowed !== undefined) {
    headers.push('access-control-allow-origin', allowed)
    headers.push('access-control-expose-headers', listExposedNames(reply.headers).join(', '))
  }
  return { ...reply, headers }
}

/** The answer to a browser that asks whether a page may send its request; else undefined. */
export function preflightReply(request: Request, cross: CrossOrigin): Reply | undefined {
  if (request.method !== 'OPTIONS' || cross.target.startsWith('/admin')) return undefined
  const isAsked = request.headers.has('access-control-request-method')
  if (!isAsked || findAllowedOrigin(cross.origins, cross.origin) === undefined) return undefined
  // SDKs send headers of their own that no list could foresee, and `*` leaves out Authorization.
  const asked = request.headers.get('access-control-request-headers') ?? ''
  const headers = ['access-control-allow-methods', 'GET, HEAD, POST']
  headers.push('access-control-allow-headers', asked, 'access-control-max-age', preflightAge)
  headers.push('vary', 'access-control-request-headers')
  return { status: 204, headers, body: null }
}

/** Seconds for which a browser need not ask again; Chrome takes no longer time. */
const preflightAge = '7200'

function findAllowedOrigin(origins: readonly string[], origin: string | undefined) {
  if (origins.includes('*')) return '*'
  return origin !== undefined && origins.includes(origin) ? origin : undefined
}

const alwaysExposed = ['x-request-id', 'request-id', 'retry-after', 'x-should-retry']

/** Pages see only the headers that are exposed by name; SDKs read these. */
function listExposedNames(headers: HeaderList): readonly string[] {
  const own = headers.filter((name, at) => at % 2 === 0 && /^x-(?:gateway|ratelimit)-/.test(name))
  return [...alwaysExposed, ...own]
}
