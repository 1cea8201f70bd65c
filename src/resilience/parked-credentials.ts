import type { Millis } from '../core/ids.ts'
import type { Model, Provider, UsableCredential } from '../core/provider.ts'

/** Why and until when a credential is not used. */
export interface Parking {
  /** 429 for a rate limit, 401 for a credential that the provider refuses. */
  readonly status: 429 | 401
  /** On the clock that never jumps; `Infinity` for until the next reload. */
  readonly until: Millis
}

/** The requests that do not use a parked credential. */
export interface ParkingScope {
  readonly provider: Pick<Provider, 'name'>
  /** The id of the model; empty for all models of the provider. */
  readonly model: string
}

/** Remembers the parked credentials. */
export interface ParkedCredentials {
  /** Finds the parking of a credential that ends last for a model. It may be over. */
  find(credential: UsableCredential, link: Model): Parking | undefined
  /** The parkings of a credential by the id of the model, the empty id for all models. They may be over. */
  list(
    credential: UsableCredential,
    provider: Pick<Provider, 'name'>,
  ): Iterable<readonly [model: string, Parking]>
  park(credential: UsableCredential, parking: Parking, scope: ParkingScope): void
  /** Called at a reload: credentials that providers have refused are tried again. */
  forgetRefused(): void
}

/** Remembers for this process. Every snapshot has credentials of its own, so a reload starts anew. */
export class ParkedInProcess implements ParkedCredentials {
  /** By the id of the model; the empty id for all models. */
  readonly #parkings = new WeakMap<UsableCredential, Map<string, Parking>>()

  find(credential: UsableCredential, { id }: Model): Parking | undefined {
    const parkings = this.#parkings.get(credential)
    return pickLast(parkings?.get(''), parkings?.get(id))
  }

  list(credential: UsableCredential): Iterable<readonly [model: string, Parking]> {
    return this.#parkings.get(credential) ?? []
  }

  park(credential: UsableCredential, parking: Parking, { model }: ParkingScope): void {
    const parkings = this.#parkings.get(credential) ?? new Map<string, Parking>()
    this.#parkings.set(credential, parkings.set(model, parking))
  }

  forgetRefused(): void {}
}

/** Returns the parking that ends last; of two that end together the second. */
export function pickLast(
  first: Parking | undefined,
  second: Parking | undefined,
): Parking | undefined {
  return first && second && first.until > second.until ? first : (second ?? first)
}
