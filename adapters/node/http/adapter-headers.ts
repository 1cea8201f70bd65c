import type { IncomingHttpHeaders } from 'node:http'
import { Headers } from '@whatwg-node/fetch'
import { delegateToFull } from '../ports/delegate.ts'

/**
 * The headers of a request, read directly from those that Node has parsed. For other code they behave like
 * the adapter's `Headers`, which they create on the first access to any other member.
 */
export class AdapterHeaders {
  readonly #received: IncomingHttpHeaders
  #full: Headers | undefined

  constructor(received: IncomingHttpHeaders) {
    this.#received = received
  }

  get full(): Headers {
    this.#full ??= new Headers(this.#received as HeadersInit)
    return this.#full
  }

  get(name: string): string | null {
    if (this.#full) return this.#full.get(name)
    const value: unknown = this.#received[name.toLowerCase()]
    // Anything else is a member of all objects, such as `constructor`.
    return typeof value === 'string' ? value : Array.isArray(value) ? value.join(', ') : null
  }

  /** A method of its own: the adapter looks for it in each request. */
  forEach(...args: Parameters<Headers['forEach']>): void {
    this.full.forEach(...args)
  }

  has(name: string): boolean {
    return this.get(name) !== null
  }
}

delegateToFull(AdapterHeaders.prototype, [
  'append',
  'delete',
  'entries',
  'getSetCookie',
  'keys',
  'set',
  'values',
  Symbol.iterator,
])
