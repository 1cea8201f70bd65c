import type { GatewayClient } from './gateway-client.ts'

/** A request of the page. */
export interface PageRequest {
  readonly method: string
  /** The path below `/api`, with its query. */
  readonly path: string
  readonly body: string | undefined
  readonly signal: AbortSignal
}

/** What the page may ask of the admin API. Secrets and the configuration stay out of its reach. */
const forwarded: readonly (readonly [methods: string, path: RegExp])[] = [
  [
    'GET',
    /^\/admin\/(?:status|requests|usage|usage\/parts|audit|groups|keys|models|routes|settings)$/,
  ],
  ['POST', /^\/admin\/(?:keys|groups)$/],
  ['PATCH DELETE', /^\/admin\/(?:keys|groups)\/\w+$/],
  ['POST', /^\/admin\/keys\/\w+\/rotate$/],
  ['POST', /^\/admin\/(?:keys|groups)\/\w+\/grant$/],
  ['POST', /^\/admin\/providers\/[\w.~%-]+\/check$/],
]

/** The data-plane routes of the chat box. */
const asked: readonly (readonly [methods: string, path: RegExp])[] = [
  ['GET', /^\/v1\/models$/],
  ['POST', /^\/v1\/chat\/completions$/],
]

/** Answers a request of the page from the gateway; undefined for one that the console does not forward. */
export async function callGateway(
  { method, path, body, signal }: PageRequest,
  client: GatewayClient,
): Promise<Response | undefined> {
  const [bare = ''] = path.split('?')
  const isOn = ([methods, pattern]: readonly [string, RegExp]) =>
    methods.split(' ').includes(method) && pattern.test(bare)
  const call = { method, path, body, signal }
  if (forwarded.some(isOn)) return client.admin(call)
  if (asked.some(isOn)) return client.ask(call)
  return undefined
}
