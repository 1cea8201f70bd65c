import type { Millis } from '../core/ids.ts'
import type { Model, UsableCredential } from '../core/provider.ts'

/** Why and until when a credential is not used. */
export interface Parking {
  /** 429 for a rate limit, 401 for a credential that the provider refuses. */
  readonly status: 429 | 401
  /** On the clock that never jumps; `Infinity` for until the next reload. */
  readonly until: Millis
}

/** Remembers the parked credentials. */
export interface ParkedCredentials {
  /** Finds the parking of a credential that ends last for a model. It may be over. */
  find(credential: UsableCredential, link: Model): Parking | undefined
  /** The parkings of a credential by the id of the model, the empty id for all models. They may be over. */
  list(credential: UsableCredential): Iterable<readonly [model: string, Parking]>
  /** Parks a credential for one model, or for all without `link`. */
  park(credential: UsableCredential, parking: Parking, link?: Model): void
}

/** Remembers for this process. Every snapshot has credentials of its own, so a reload starts anew. */
export class ParkedInProcess implements ParkedCredentials {
  /** By the id of the model; the empty id for all models. */
  readonly #parkings = new WeakMap<UsableCredential, Map<string, Parking>>()

  find(credential: UsableCredential, { id }: Model): Parking | undefined {
    const parkings = this.#parkings.get(credential)
    const common = parkings?.get('')
    const own = parkings?.get(id)
    return own && common && common.until > own.until ? common : (own ?? common)
  }

  list(credential: UsableCredential): Iterable<readonly [model: string, Parking]> {
    return this.#parkings.get(credential) ?? []
  }

  park(credential: UsableCredential, parking: Parking, link?: Model): void {
    const parkings = this.#parkings.get(credential) ?? new Map<string, Parking>()
    this.#parkings.set(credential, parkings.set(link?.id ?? '', parking))
  }
}
