import type { Authenticator } from '../core/admission.ts'
import { GatewayError } from '../core/errors.ts'
import type { MetricsPort } from '../core/metrics.ts'
import { headerList } from '../core/ports.ts'
import { type ErrorForm, jsonBytes, jsonReply, type Reply } from '../core/reply.ts'
import {
  type Arrival,
  type ChatDoor,
  type CountDoor,
  type DataPlane,
  findAllowed,
  listAllowed,
  type ModelListing,
  noAttempts,
  plainListing,
  serveCounts,
} from '../data-plane/index.ts'
import { countDoors, doors, listings } from '../doors/index.ts'
import type { HealthReport, Readiness } from '../health/index.ts'
import type { Snapshot } from '../snapshot/index.ts'
import { frontPage } from './front-page.ts'
import { listRoutes, type RequestHead, type Route, type Routes } from './router.ts'
import { type ServicePlace, services } from './services.ts'

export interface RouteOptions {
  readonly plane: DataPlane
  readonly snapshot: () => Snapshot
  /** The body of `GET /health/providers`. */
  readonly health: () => Promise<HealthReport>
  readonly readiness: Pick<Readiness, 'status'>
  /** Undefined on a host without metrics. */
  readonly metrics: Exposition | undefined
  readonly authenticator: Authenticator
  /** What the holder of a key may read about it; none with auth off. */
  readonly ownKey: Routes<Arrival>
}

type Exposition = Pick<MetricsPort, 'contentType' | 'exposition'>

/** Creates the routes that do not depend on auth. */
export function createRoutes({
  plane,
  snapshot,
  health,
  readiness,
  metrics,
  authenticator,
  ownKey,
}: RouteOptions): Routes<Arrival> {
  const routes: Routes<Arrival> = {
    ...Object.fromEntries(services.flatMap((place) => createServiceRoutes(place, plane))),
    ...Object.fromEntries(countDoors.flatMap((door) => createCountRoutes(door, plane))),
    ...createListRoutes('/v1/models', findListing, { snapshot, authenticator }),
    ...Object.assign(
      {},
      ...listings.flatMap((listing) =>
        (listing.paths ?? []).map((path) =>
          createListRoutes(path, () => listing, { snapshot, authenticator }),
        ),
      ),
    ),
    ...ownKey,
    '/health': { GET: () => jsonReply({ status: 'ok' }) },
    '/health/ready': { GET: () => reportReadiness(readiness) },
    '/health/providers': { GET: async () => jsonReply(await health()) },
    ...(metrics && { '/metrics': { GET: () => scrape(metrics) } }),
  }
  const front = frontPage(listRoutes(routes))
  return {
    '/': { GET: ({ request }) => front(request) },
    '/metrics': { GET: noMetrics },
    // Claude Code asks for it at each start, without a key, and does nothing with the answer.
    '/api/hello': { GET: () => jsonReply({ message: 'hello' }) },
    ...routes,
    // Behind the others, because they may be below an absent path.
    ...Object.fromEntries(doors.flatMap(createAbsentRoutes)),
  }
}

/** Returns the form of the API in whose manner a request asks. */
export function chooseForm(request: RequestHead): ErrorForm | undefined {
  return findListing(request).form
}

/** The routes of a list of models, and of one of them. */
function createListRoutes(
  path: string,
  find: (request: RequestHead) => ModelListing,
  { snapshot, authenticator }: Pick<RouteOptions, 'snapshot' | 'authenticator'>,
): Routes<Arrival> {
  const form = (request: RequestHead) => find(request).form
  return {
    [path]: {
      GET: ({ request, context }) => {
        const caller = authenticator.authenticate(request, context)
        const { searchParams } = new URL(request.url)
        const allowed = listAllowed({ snapshot: snapshot(), caller })
        return listingReply(find(request).list(allowed, searchParams))
      },
      form,
      errorHeaders: noAttempts,
    },
    [`${path}/:id+`]: {
      GET: ({ request, context, params: { id = '' } }) => {
        const caller = authenticator.authenticate(request, context)
        const model = findAllowed(id, { snapshot: snapshot(), caller })
        return listingReply(find(request).describe(model))
      },
      form,
      errorHeaders: noAttempts,
      explainAbsentPost: (request) => find(request).absent,
    },
  }
}

function listingReply(models: object): Reply {
  return jsonBytes(encoder.encode(JSON.stringify(models)), { headers: noAttempts })
}

/** Returns the manner in which a request asks for models. */
function findListing(request: RequestHead): ModelListing {
  return listings.find(({ isFor }) => isFor(request)) ?? plainListing
}

function createServiceRoutes(
  { service, paths, form }: ServicePlace,
  plane: DataPlane,
): [path: string, Route<Arrival>][] {
  const route = { POST: plane.recorded(service), ...(form && { form }), errorHeaders: noAttempts }
  return paths.map((path) => [path, route])
}

function createCountRoutes(door: CountDoor, plane: DataPlane): [path: string, Route<Arrival>][] {
  const { api, paths, form } = door
  const route = { POST: plane.unrecorded(api, serveCounts(door)), form, errorHeaders: noAttempts }
  return paths.map((path) => [path, route])
}

/** Every method of an absent path is 404 with the reason. */
function createAbsentRoutes({ absent = {}, form }: ChatDoor): [path: string, Route<Arrival>][] {
  return Object.entries(absent).map(([path, reason]) => {
    const refuse = () => {
      throw new GatewayError('LM-1003', reason)
    }
    const methods = { GET: refuse, POST: refuse, PUT: refuse, PATCH: refuse, DELETE: refuse }
    return [path, { ...methods, ...(form && { form }), errorHeaders: noAttempts }]
  })
}

const encoder = new TextEncoder()

function reportReadiness({ status }: Pick<Readiness, 'status'>): Reply {
  return jsonReply({ status }, status === 'ready' ? 200 : 503)
}

async function scrape({ contentType, exposition }: Exposition): Promise<Reply> {
  const body = new TextEncoder().encode(await exposition())
  return {
    status: 200,
    headers: headerList({ 'content-type': contentType, 'content-length': String(body.length) }),
    body,
  }
}

function noMetrics(): never {
  throw new GatewayError(
    'LM-1003',
    'this host has no metrics; pass the option `metrics` to createGateway',
  )
}
