import { Router } from 'itty-router'
import { GatewayError, invalid } from '../core/errors.ts'
import { type HeaderList, headerList } from '../core/ports.ts'
import type { ErrorForm, Reply } from '../core/reply.ts'
import { RecentMap } from '../wire/recent-map.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** A request with the decoded parameters of its path. */
export interface RoutedRequest<Context> {
  readonly request: Request
  readonly params: Readonly<Record<string, string>>
  readonly context: Context
  /** The path as in the documentation, `/v1/models/{id}`. */
  readonly route: string
}

export type Handler<Context, Answer = Reply> = (
  routed: RoutedRequest<Context>,
) => Answer | Promise<Answer>

/**
 * Handlers by path and method. `:id` is a parameter; `:id+` is one that may contain slashes; a part in `(…)?` may be
 * absent, `(a|b)` is one of several, of which the first is documented, and `[:]` is a colon.
 */
export type Routes<Context, Answer = Reply> = Readonly<Record<string, Route<Context, Answer>>>

/** The handlers of one path, and the form of its answers; by default that of the OpenAI API. */
export type Route<Context, Answer = Reply> = Readonly<
  Partial<Record<Method, Handler<Context, Answer>>>
> & {
  readonly form?: ErrorForm | ChooseForm
  /** Headers of its errors, those for a wrong method included; one that the error has itself wins. */
  readonly errorHeaders?: HeaderList
  /** Why a POST is 404; undefined when it is 405, as by default. */
  readonly explainAbsentPost?: (request: RequestHead) => string | undefined
}

/** What shows the API of a request, before its body is read. */
export type RequestHead = Pick<Request, 'method' | 'url' | 'headers'>

/** Chooses the form for a request; undefined for that of the OpenAI API. */
export type ChooseForm = (request: RequestHead) => ErrorForm | undefined

/** The route of a path. */
export interface RouteMatch<Context, Answer = Reply> {
  /** The path as in the documentation, `/v1/models/{id}`; `other` for an unknown path. */
  readonly route: string
  /** The form of its answers, if it has one of its own. */
  readonly form?: ErrorForm | ChooseForm | undefined
  /** Headers of its errors; one that the error has itself wins. */
  readonly errorHeaders?: HeaderList | undefined
  /**
   * Serves a request; HEAD like GET. Throws LM-1003 for an unknown path (404) and for a method that
   * the route does not have (405 with `Allow`), and LM-1001 for dot segments.
   */
  serve(request: Request, context: Context): Answer | Promise<Answer>
}

/**
 * Finds the route of a target, the path and query of a URL. Never rejects. Literal paths are found
 * synchronously.
 */
export type FindRoute<Context, Answer = Reply> = (
  target: string,
) => RouteMatch<Context, Answer> | Promise<RouteMatch<Context, Answer>>

/** Targets are parsed against this origin; the host of the request does not matter. */
const origin = 'http://gateway'

/** Creates the function that finds the route of a target. `form` is that of unknown paths. */
export function createRouter<Context, Answer = Reply>(
  routes: Routes<Context, Answer>,
  form?: ChooseForm,
): FindRoute<Context, Answer> {
  // The router parses the URL and tries one route after the other. Most requests have a literal path, or one that was
  // found before, and skip both: that saves 3 % of the time of a small request, and more of one whose route is among the last.
  const literal = new Map<string, RouteMatch<Context, Answer>>()
  const recent = new RecentMap<string, RouteMatch<Context, Answer>>({ max: maxRecent })
  const router = Router<IttyRequest, []>()
  for (const [path, methods] of Object.entries(routes)) {
    const match = createMatch(path, methods)
    if (!/[:(]/.test(path)) literal.set(path, match({}))
    router.all(path, ({ params = {} }) => match(decodeParams(params)))
  }
  const search = async (target: string, path: string): Promise<RouteMatch<Context, Answer>> => {
    const found: RouteMatch<Context, Answer> | undefined = await router.fetch({
      url: origin + target,
      method: 'GET',
    })
    if (found && path.length <= maxRecentLength) recent.set(path, found)
    return found ?? createFailure(routeNotFound(path, [...literal.keys()]), form)
  }
  return (target) => {
    const direct = literal.get(target)
    if (direct) return direct
    const path = target.replace(/[?#].*/s, '')
    const known = literal.get(path) ?? recent.get(path)
    if (known) return known
    // The URL parser would resolve dot segments, so `/v1/../admin` would reach the admin API past a
    // reverse proxy that blocks `/admin`.
    if (dotSegment.test(path))
      return createFailure(invalid('the path contains a "." or ".." segment'), form)
    return search(target, path)
  }
}

/** Paths with parameters are few where models are in them, and many where ids of keys are. */
const maxRecent = 256

/** In characters. A longer path is not worth its memory. */
const maxRecentLength = 256

const dotSegment = /[/\\](?:\.|%2e){1,2}(?:[/\\]|$)/i

interface IttyRequest {
  readonly url: string
  readonly method: string
  readonly params?: Readonly<Record<string, string | undefined>>
}

/** Lists every method and path as in the documentation: `GET /v1/models/{id}`. */
export function listRoutes(routes: Routes<never>): readonly string[] {
  return Object.entries(routes).flatMap(([path, route]) =>
    listMethods(route).map((method) => `${method} ${documentPath(path)}`),
  )
}

function documentPath(path: string): string {
  const plain = path.replace(/\([^()]*\)\?/g, '').replace(/\((\w+)(?:\|\w*)*\)/g, '$1')
  return plain.replace(/:(\w+)\+?/g, '{$1}').replaceAll('[:]', ':')
}

/** Returns the path, query and fragment of an absolute URL unchanged, without the prefix `base`. */
export function parseTarget(url: string, base = ''): string {
  const start = url.indexOf('/', url.indexOf('//') + 2)
  if (start < 0) return '/'
  const target = url.slice(isBelow(base, url, start) ? start + base.length : start)
  return target.startsWith('/') ? target : `/${target}`
}

function isBelow(base: string, url: string, start: number): boolean {
  const next = url[start + base.length]
  return url.startsWith(base, start) && (next === undefined || next === '/' || next === '?')
}

const methodNames: ReadonlySet<string> = new Set(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'])

/** Lists the methods of a path. */
function listMethods(route: Route<never, unknown>): readonly string[] {
  return Object.keys(route).filter((name) => methodNames.has(name))
}

function createMatch<Context, Answer>(path: string, methods: Route<Context, Answer>) {
  const route = documentPath(path)
  const known = listMethods(methods)
  return (params: Readonly<Record<string, string>>): RouteMatch<Context, Answer> => ({
    route,
    form: methods.form,
    errorHeaders: methods.errorHeaders,
    serve(request, context) {
      const { method } = request
      const name = method === 'HEAD' ? 'GET' : method
      // The list has only the methods of the path, which the cast cannot express.
      const handler = known.includes(name) ? methods[name as Method] : undefined
      if (!handler) {
        if (offersWebSocket(request) && known.includes('POST')) throw upgradeRequired()
        const reason = method === 'POST' ? methods.explainAbsentPost?.(request) : undefined
        if (reason !== undefined) throw new GatewayError('LM-1003', reason)
        throw methodNotAllowed(known)
      }
      return handler({ request, params, context, route })
    },
  })
}

function createFailure(
  error: GatewayError,
  form: ChooseForm | undefined,
): RouteMatch<unknown, never> {
  return {
    route: 'other',
    form,
    serve() {
      throw error
    },
  }
}

/** Decodes parameters, because itty-router does not. Official SDKs encode the slash of an id. */
function decodeParams(
  params: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  return Object.fromEntries(
    Object.entries(params).map(([name, value = '']) => [name, decodeOnce(value)]),
  )
}

function decodeOnce(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

/** https://www.rfc-editor.org/rfc/rfc6455#section-4.1 */
function offersWebSocket({ method, headers }: Request): boolean {
  return method === 'GET' && /\bwebsocket\b/i.test(headers.get('upgrade') ?? '')
}

/** Clients that prefer a WebSocket, such as Codex, fall back to POST at once after this status. */
function upgradeRequired(): GatewayError {
  const message = 'this route is not served over WebSocket; send the request with POST over HTTP'
  return new GatewayError('LM-1003', message, {
    status: 426,
    headers: headerList({ upgrade: 'HTTP/1.1', connection: 'close' }),
  })
}

function methodNotAllowed(methods: readonly string[]): GatewayError {
  const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const message = `this route accepts ${allow.join(', ')}`
  return new GatewayError('LM-1003', message, {
    status: 405,
    headers: headerList({ allow: allow.join(', ') }),
  })
}

/** Paths of other APIs, with the path at which the gateway serves the same in the OpenAI format. */
const servedElsewhere = new Map([
  // Cohere's.
  ['/v2/chat', '/v1/chat/completions'],
  ['/v2/embed', '/v1/embeddings'],
])

/**
 * LM-1003 with the path that is probably meant. Common mistakes are a doubled slash, a doubled or a
 * missing `/v1`, and an `/openai` before it, as in the addresses of Azure.
 */
function routeNotFound(path: string, known: readonly string[]): GatewayError {
  const plain = path.replace(/\/{2,}/g, '/').replace(/^(?:\/openai)?(?:\/v1(?:beta)?(?![^/]))*/, '')
  const elsewhere = servedElsewhere.get(plain)
  if (elsewhere !== undefined) {
    const message = `${plain} is not served; send requests in the OpenAI format to ${elsewhere}`
    return new GatewayError('LM-1003', message)
  }
  const meant = known.find((route) => route !== '/' && route.replace('/v1', '') === plain)
  const hint = meant === undefined ? 'GET / lists the routes' : `did you mean ${meant}?`
  return new GatewayError('LM-1003', `no such route; ${hint}`)
}
