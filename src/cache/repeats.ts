import { LRUCache } from 'lru-cache'
import type { AnswerPlace } from './answer-store.ts'

/** What the request of a place asks for. */
export interface LocatedRequest {
  readonly model: string
  readonly isStream: boolean
  readonly place: AnswerPlace
}

/** How many requests are remembered; together they take less than a megabyte. */
const maxRequests = 1000

/**
 * Remembers the places of requests by their exact bytes, so that a repeated one need not be read. What was
 * found in a request holds as long as the configuration that it was checked against.
 */
export class Repeats {
  readonly #known = new LRUCache<string, Known>({ max: maxRequests })

  get isEmpty(): boolean {
    return this.#known.size === 0
  }

  /** `digest` is of all that the check of a request reads, besides the configuration. */
  find(digest: string, configuration: object): LocatedRequest | undefined {
    const known = this.#known.get(digest)
    return known?.configuration.deref() === configuration ? known.request : undefined
  }

  clear(): void {
    this.#known.clear()
  }

  /** Notes a request that was found to be valid. */
  note(digest: string, configuration: object, request: LocatedRequest): void {
    this.#known.set(digest, { configuration: new WeakRef(configuration), request })
  }
}

interface Known {
  readonly configuration: WeakRef<object>
  readonly request: LocatedRequest
}
