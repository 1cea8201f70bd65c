import type { NativeEndpoints } from '../core/endpoints.ts'
import type { Model } from '../core/provider.ts'
import type { TimeSlice } from '../wire/time-slice.ts'
import { NativeLink, type NativeRequest } from './native-link.ts'
import type { ParsedBody } from './parsed-body.ts'
import { prepareLink } from './prepare-link.ts'
import { type DoorRequest, TranslatedLink } from './translated-link.ts'

export interface BoundOptions {
  /** The API of the request. */
  readonly api: keyof NativeEndpoints
  readonly body: Pick<ParsedBody<object>, 'isHeavy' | 'parseInSteps'>
}

/**
 * A request of another API than chat completions, bound to links: natively where the upstream speaks its API, and
 * else by way of chat completions.
 */
export class BoundLinks {
  readonly #request: DoorRequest & NativeRequest
  readonly #options: BoundOptions
  readonly #links = new Map<Model, NativeLink | TranslatedLink>()

  constructor(request: DoorRequest & NativeRequest, options: BoundOptions) {
    this.#request = request
    this.#options = options
  }

  bind(link: Model): NativeLink | TranslatedLink {
    const known = this.#links.get(link)
    if (known) return known
    const { api, body } = this.#options
    // The chat requests of a heavy call take much memory, so only one is kept.
    if (body.isHeavy) this.#links.clear()
    const endpoint = link.native[api]
    const bound = endpoint
      ? new NativeLink(this.#request, endpoint)
      : new TranslatedLink(this.#request, link)
    this.#links.set(link, bound)
    return bound
  }

  /** Parses and translates a heavy request for a link, in steps; undefined where nothing is to be done. */
  prepareFor(link: Model, slice: TimeSlice): Promise<void> | undefined {
    const { api, body } = this.#options
    if (!body.isHeavy || link.native[api]) return undefined
    return prepareLink(this.bind(link), { body, slice })
  }

  /** Drops the translated requests, which are made again when they are needed. */
  forget(): void {
    for (const link of this.#links.values()) if (link instanceof TranslatedLink) link.forget()
  }
}
