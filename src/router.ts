import { Router } from 'itty-router'
import { GatewayError } from './core/errors.ts'
import type { Reply } from './core/reply.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** What the handlers of a route get: the request, the decoded parameters of its path. */
export interface Matched<Context> {
  readonly request: Request
  readonly params: Readonly<Record<string, string>>
  readonly context: Context
}

export type Handler<Context> = (matched: Matched<Context>) => Reply | Promise<Reply>

/** Paths in itty-router's notation (`:id`, `:id+` for one that may hold slashes), with what serves them. */
export type Routes<Context> = Readonly<
  Record<string, Readonly<Partial<Record<Method, Handler<Context>>>>>
>

export type Route<Context> = (request: Request, context: Context) => Promise<Reply>

/**
 * Finds who serves a request. Throws LM-1003: 404 for an unknown path, 405 with `Allow` for a
 * method that the path does not take. HEAD is served as GET.
 */
export function createRouter<Context>(routes: Routes<Context>): Route<Context> {
  // The router parses every address and then tries one route after the other. Most requests name
  // their route to the letter, and need neither.
  const literal = new Map(Object.entries(routes).filter(([path]) => !path.includes(':')))
  const router = Router<RoutedRequest, [Context]>()
  for (const [path, methods] of Object.entries(routes)) {
    router.all(path, (routed, context) => serve(routed, methods, context))
  }
  return async (request, context) => {
    const { url, method } = request
    const methods = literal.get(url.slice(url.indexOf('/', url.indexOf('//') + 2)))
    if (methods) return serve({ url, method, request }, methods, context)
    // The router writes its findings onto what it is given, so it gets an object of its own.
    const routed: RoutedRequest = { url, method, request }
    const reply: Reply | undefined = await router.fetch(routed, context)
    if (reply) return reply
    throw noRoute(new URL(request.url).pathname, Object.keys(routes))
  }
}

interface RoutedRequest {
  readonly url: string
  readonly method: string
  readonly request: Request
  readonly params?: Readonly<Record<string, string | undefined>>
}

function serve<Context>(
  { request, method, params = {} }: RoutedRequest,
  methods: Readonly<Partial<Record<Method, Handler<Context>>>>,
  context: Context,
): Reply | Promise<Reply> {
  // An unknown method finds no handler.
  const handler = methods[(method === 'HEAD' ? 'GET' : method) as Method]
  if (!handler) throw wrongMethod(Object.keys(methods))
  return handler({ request, params: decoded(params), context })
}

/** Official SDKs send ids with an encoded slash; itty-router hands parameters on as they came. */
function decoded(params: Readonly<Record<string, string | undefined>>): Record<string, string> {
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

function wrongMethod(methods: readonly string[]): GatewayError {
  const allow = methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]))
  const message = `this route takes ${allow.join(', ')}`
  return new GatewayError('LM-1003', message, { status: 405, headers: ['allow', allow.join(', ')] })
}

/** The message names the path that was probably meant: a doubled or a missing `/v1` is common. */
function noRoute(path: string, known: readonly string[]): GatewayError {
  const plain = path.replace(/^(\/v1)+/, '')
  const meant = known.find((route) => !route.includes(':') && route.replace('/v1', '') === plain)
  const hint =
    meant === undefined ? 'see the documentation for the routes' : `did you mean ${meant}?`
  return new GatewayError('LM-1003', `no such route; ${hint}`)
}
