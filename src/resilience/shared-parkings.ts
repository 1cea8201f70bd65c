import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { Provider, UsableCredential } from '../core/provider.ts'
import type { SharedState } from '../core/shared-state.ts'
import { blake3Hex } from '../wire/digest.ts'
import {
  type ParkedCredentials,
  type Parking,
  type ParkingCause,
  ParkingLot,
  type ParkingPlace,
} from './parked-credentials.ts'

export interface SharedParkingsOptions {
  readonly shared: SharedState
  readonly clock: Clock
}

/**
 * The parked credentials that all processes have in common. Each keeps a mirror that publications update, so
 * choosing a credential does not call the server. On the server a credential is named by its provider, its
 * variable and a digest, so that a new secret in the same variable is not parked.
 */
export class SharedParkings implements ParkedCredentials {
  readonly #shared: SharedState
  readonly #clock: Clock
  /** By the name of the credential. */
  readonly #lots = new Map<string, ParkingLot>()
  readonly #names = new WeakMap<UsableCredential, string>()
  /** The time of the last reload of any process, on the clock of the server. */
  #lastReload: Millis = 0

  constructor({ shared, clock }: SharedParkingsOptions) {
    this.#shared = shared
    this.#clock = clock
    shared.subscribe('parked', (message) => this.#receive(message))
    shared.onUp(() => void this.#synchronize())
    void this.#synchronize()
  }

  list(credential: UsableCredential, provider: Pick<Provider, 'name'>): Iterable<Parking> {
    if (this.#lots.size === 0) return []
    return this.#lots.get(this.#toName(credential, provider))?.list() ?? []
  }

  park(credential: UsableCredential, provider: Pick<Provider, 'name'>, parking: Parking): void {
    const name = this.#toName(credential, provider)
    const dropped = this.#put(name, parking)
    if (dropped) this.#call('park_free', [toField(name, dropped)])
    const { refusals, until } = parking
    const wait = Math.max(0, Math.ceil(until - this.#clock.elapsed()))
    this.#call('park', [toField(name, parking), String(refusals), String(wait)])
  }

  free(credential: UsableCredential, provider: Pick<Provider, 'name'>, place: ParkingPlace): void {
    const name = this.#toName(credential, provider)
    this.#drop(name, place)
    this.#call('park_free', [toField(name, place)])
  }

  /** Forgets them in all processes. */
  forgetRefused(): void {
    this.#dropRefused()
    this.#call('park_reload', [])
  }

  /** Reads what all processes have parked. */
  async #synchronize(): Promise<void> {
    const [time, ...parked] = (await this.#call('park_list', [])) ?? []
    if (time === undefined) return
    // A reload in the meantime has made the reply obsolete.
    if (Number(time) < this.#lastReload) return this.#synchronize()
    this.#dropRefused()
    for (const message of parked) this.#receive(message)
  }

  #call(name: string, args: readonly string[]): Promise<readonly string[] | undefined> {
    return this.#shared.call(name, args).catch(() => undefined)
  }

  #receive(message: string): void {
    const [, reloadedAt, freed, refusals, wait, parked] = messagePattern.exec(message) ?? []
    if (reloadedAt !== undefined) {
      this.#lastReload = Number(reloadedAt)
      return this.#dropRefused()
    }
    const field = freed ?? parked
    if (field === undefined) return
    // `toField` has written it.
    const [name, model, cause] = JSON.parse(field) as [string, string, ParkingCause]
    const place = { model, cause }
    if (freed !== undefined) return this.#drop(name, place)
    const until = this.#clock.elapsed() + Number(wait)
    this.#put(name, { ...place, refusals: Number(refusals), until })
  }

  #put(name: string, parking: Parking): Parking | undefined {
    let lot = this.#lots.get(name)
    if (!lot) this.#lots.set(name, (lot = new ParkingLot()))
    return lot.put(parking)
  }

  #drop(name: string, place: ParkingPlace): void {
    const lot = this.#lots.get(name)
    lot?.drop(place)
    if (lot?.isEmpty) this.#lots.delete(name)
  }

  #dropRefused(): void {
    for (const [name, lot] of this.#lots) {
      lot.dropRefused()
      if (lot.isEmpty) this.#lots.delete(name)
    }
  }

  #toName(credential: UsableCredential, provider: Pick<Provider, 'name'>): string {
    let name = this.#names.get(credential)
    if (name === undefined) {
      const digest = blake3Hex(credential.secret ?? '').slice(0, 32)
      name = JSON.stringify([provider.name, credential.name, digest])
      this.#names.set(credential, name)
    }
    return name
  }
}

/** The field of a parking on the server. */
function toField(name: string, { model, cause }: ParkingPlace): string {
  return JSON.stringify([name, model, cause])
}

/** `reload` and its time; `free` and the field; or: refusals, wait and the field. */
const messagePattern = /^(?:reload (\d+)|free (.+)|(\d+) (\d+) (.+))$/s
