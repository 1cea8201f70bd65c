import type { Millis } from '../core/ids.ts'
import type { Provider, UsableCredential } from '../core/provider.ts'

/** Why a credential is parked: a rate limit, a refusal, or because it could not be sent. */
export type ParkingCause = 'limited' | 'refused' | 'unsendable'

/** What a parking is about. A credential has at most one for each. */
export interface ParkingPlace {
  /** The id of the model; empty for all models of the provider. */
  readonly model: string
  readonly cause: ParkingCause
}

/** Why and until when a credential is not used. */
export interface Parking extends ParkingPlace {
  /** On the clock that never jumps. It may have passed: refusals count on until a success. */
  readonly until: Millis
  /** How often in a row the provider has refused it; 0 for the other causes. */
  readonly refusals: number
}

/** Remembers the parked credentials. */
export interface ParkedCredentials {
  /** The parkings of a credential, those that are over too. */
  list(credential: UsableCredential, provider: Pick<Provider, 'name'>): Iterable<Parking>
  /** Adds a parking. Of two with the same place, the one that ends last counts. */
  park(credential: UsableCredential, provider: Pick<Provider, 'name'>, parking: Parking): void
  /** Forgets a parking. */
  free(credential: UsableCredential, provider: Pick<Provider, 'name'>, place: ParkingPlace): void
  /** Called at a reload: credentials that providers have refused are tried again. */
  forgetRefused(): void
}

/** Remembers for this process. Every snapshot has credentials of its own, so a reload starts anew. */
export class ParkedInProcess implements ParkedCredentials {
  readonly #lots = new WeakMap<UsableCredential, ParkingLot>()

  list(credential: UsableCredential): Iterable<Parking> {
    return this.#lots.get(credential)?.list() ?? []
  }

  park(credential: UsableCredential, _: unknown, parking: Parking): void {
    let lot = this.#lots.get(credential)
    if (!lot) this.#lots.set(credential, (lot = new ParkingLot()))
    lot.put(parking)
  }

  free(credential: UsableCredential, _: unknown, place: ParkingPlace): void {
    const lot = this.#lots.get(credential)
    lot?.drop(place)
    if (lot?.isEmpty) this.#lots.delete(credential)
  }

  forgetRefused(): void {}
}

/** Clients may invent the ids of models that patterns serve, so a credential has so many parkings at most. */
const maxParkings = 1000

/** The parkings of one credential. */
export class ParkingLot {
  readonly #parkings = new Map<string, Parking>()

  get isEmpty(): boolean {
    return this.#parkings.size === 0
  }

  list(): Iterable<Parking> {
    return this.#parkings.values()
  }

  /** Adds a parking. Returns the one that had to make room for it: the oldest of a single model. */
  put(parking: Parking): Parking | undefined {
    const key = toKey(parking)
    const known = this.#parkings.get(key)
    if (known && known.until > parking.until) return undefined
    this.#parkings.delete(key)
    this.#parkings.set(key, parking)
    if (this.#parkings.size <= maxParkings) return undefined
    return this.#dropOldest()
  }

  #dropOldest(): Parking | undefined {
    for (const parking of this.#parkings.values()) {
      if (parking.model === '') continue
      this.drop(parking)
      return parking
    }
    return undefined
  }

  drop(place: ParkingPlace): void {
    this.#parkings.delete(toKey(place))
  }

  dropRefused(): void {
    for (const parking of this.#parkings.values()) {
      if (parking.cause === 'refused') this.drop(parking)
    }
  }
}

function toKey({ model, cause }: ParkingPlace): string {
  return `${cause} ${model}`
}
