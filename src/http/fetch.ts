import { storeUnavailable } from '../access/index.ts'
import { bodyAlreadyRead, type GatewayError } from '../core/errors.ts'
import type { Fetch } from '../core/fetch.ts'
import { clientRequestId, type RequestId } from '../core/ids.ts'
import type { Clock, HeaderList, Log, MakeResponse } from '../core/ports.ts'
import type { Reply } from '../core/reply.ts'
import { asGatewayError } from '../core/unexpected.ts'
import type { Arrival } from '../data-plane/index.ts'
import type { HttpDurations } from '../metrics/index.ts'
import type { RefusalLog } from '../records/index.ts'
import { StoreFault } from '../store/index.ts'
import { type CrossOrigin, preflightReply, withCors } from './cors.ts'
import { errorReply, toResponseParts, withoutBody } from './responses.ts'
import { type FindRoute, parseTarget, type RouteMatch } from './router.ts'

export interface FetchDeps {
  readonly find: FindRoute<Arrival>
  /** The current `server.cors_origins`. */
  readonly corsOrigins: () => readonly string[]
  readonly durations: HttpDurations
  readonly clock: Clock
  readonly log: Log
  /** Logs requests for which there is no route. */
  readonly unrouted: Pick<RefusalLog, 'add'>
  readonly response: MakeResponse
}

/** Creates the fetch function: routing, errors, CORS and common headers around every route. */
export function createFetch(options: FetchDeps): Fetch {
  const { find, corsOrigins, durations, clock, log, unrouted, response } = options
  return async function fetch(request, context) {
    const arrived = clock.elapsed()
    const id = clientRequestId(request.headers.get('x-request-id')) ?? newRequestId()
    const arrival = { id, signal: context?.signal ?? request.signal, client: context?.client }
    const target = parseTarget(request.url, context?.base)
    const found = find(target)
    const match = found instanceof Promise ? await found : found
    const form = typeof match.form === 'function' ? match.form(request) : match.form
    const cross = toCrossOrigin(request.headers, target, corsOrigins())
    let reply: Reply
    try {
      reply = await respond(request, { match, cross, log, arrival })
    } catch (error) {
      const known = toGatewayError(error, log, id)
      const { code, status } = known
      // A refused WebSocket is no mistake: the client goes on with POST.
      if (code === 'LM-1003' && status !== 426) unrouted.add({ request, origin: arrival, status })
      reply = errorReply(withHeaders(known, match.errorHeaders), id, form)
    }
    const { method } = request
    const seconds = (clock.elapsed() - arrived) / 1000
    durations.observe({ route: match.route, method, status: reply.status }, seconds)
    if (cross) reply = withCors(reply, cross)
    const sent = method === 'HEAD' ? withoutBody(reply) : reply
    return response(toResponseParts(sent, id, form))
  }
}

/** Undefined while no origin is allowed. */
function toCrossOrigin(
  headers: Headers,
  target: string,
  origins: readonly string[],
): CrossOrigin | undefined {
  if (origins.length === 0) return undefined
  return { origins, origin: headers.get('origin') ?? undefined, target }
}

interface RoutedArrival {
  readonly match: RouteMatch<Arrival>
  readonly cross: CrossOrigin | undefined
  readonly log: Log
  readonly arrival: Arrival
}

function respond(request: Request, routed: RoutedArrival): Reply | Promise<Reply> {
  const { match, cross, log, arrival } = routed
  const preflight = cross && preflightReply(request, cross)
  if (preflight) return preflight
  if (request.bodyUsed) {
    const error = bodyAlreadyRead()
    log.write('error', error.message, { request_id: arrival.id })
    throw error
  }
  return match.serve(request, arrival)
}

/** Adds the headers of a route to an error, unless it has the first of them. */
function withHeaders(error: GatewayError, headers: HeaderList | undefined): GatewayError {
  const [name] = headers ?? []
  const isMissing = name !== undefined && !error.detail.headers?.includes(name)
  return isMissing ? error.with({ headers }) : error
}

function newRequestId(): RequestId {
  // A UUID consists of safe characters.
  return crypto.randomUUID() as RequestId
}

/** Converts any error to the one that the client gets, and logs the unexpected ones. */
function toGatewayError(error: unknown, log: Log, id: RequestId): GatewayError {
  if (!(error instanceof StoreFault)) return asGatewayError(error, log, id)
  const { message: reason, code } = error
  log.write('error', 'the database cannot be used', { request_id: id, reason, code })
  return storeUnavailable(error)
}
