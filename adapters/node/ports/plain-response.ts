import { Response } from '@whatwg-node/fetch'

/** The parts of an answer, as they were given. */
export interface ResponseParts {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array | string | ReadableStream<Uint8Array> | null
}

/**
 * An answer that the host writes out from its parts. To everybody else it is the adapter's
 * `Response`, which is made when somebody looks into it: hardly ever, and it costs a small answer
 * as much as all of its routing.
 */
export class PlainResponse {
  readonly parts: ResponseParts
  #full: Response | undefined

  constructor(body: ResponseParts['body'] = null, init: ResponseInit = {}) {
    // The gateway gives headers as a plain object; another caller's may be any that fetch takes.
    const headers = isPlain(init.headers)
      ? init.headers
      : Object.fromEntries(new Headers(init.headers))
    this.parts = { status: init.status ?? 200, headers, body }
  }

  get full(): Response {
    const { status, headers, body } = this.parts
    this.#full ??= new Response(body as BodyInit | null, { status, headers })
    return this.#full
  }

  get status(): number {
    return this.parts.status
  }
}

const members: readonly (keyof Response)[] = [
  'ok',
  'statusText',
  'headers',
  'body',
  'bodyUsed',
  'type',
  'url',
  'redirected',
  'text',
  'json',
  'arrayBuffer',
  'blob',
  'formData',
  'clone',
]

for (const name of members) {
  Object.defineProperty(PlainResponse.prototype, name, {
    get(this: PlainResponse) {
      const value: unknown = this.full[name]
      return typeof value === 'function' ? value.bind(this.full) : value
    },
  })
}

function isPlain(headers: HeadersInit | undefined): headers is Record<string, string> {
  return headers !== undefined && Object.getPrototypeOf(headers) === Object.prototype
}
