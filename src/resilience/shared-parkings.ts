import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { Model, Provider, UsableCredential } from '../core/provider.ts'
import type { SharedState } from '../core/shared-state.ts'
import { blake3Hex } from '../wire/digest.ts'
import {
  type ParkedCredentials,
  type Parking,
  type ParkingScope,
  pickLast,
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
  /** By the name of the credential, then by the id of the model; the empty id for all models. */
  readonly #parkings = new Map<string, Map<string, Parking>>()
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

  find(credential: UsableCredential, { id, provider }: Model): Parking | undefined {
    if (this.#parkings.size === 0) return undefined
    const parkings = this.#parkings.get(this.#toName(credential, provider))
    return pickLast(parkings?.get(''), parkings?.get(id))
  }

  list(
    credential: UsableCredential,
    provider: Pick<Provider, 'name'>,
  ): Iterable<readonly [model: string, Parking]> {
    return this.#parkings.get(this.#toName(credential, provider)) ?? []
  }

  park(
    credential: UsableCredential,
    { status, until }: Parking,
    { provider, model }: ParkingScope,
  ): void {
    const name = this.#toName(credential, provider)
    this.#put({ name, model, status, until })
    const wait = until === Number.POSITIVE_INFINITY ? '-' : toText(until - this.#clock.elapsed())
    this.#call('park', [JSON.stringify([name, model]), String(status), wait])
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
    const [, reloadedAt, status, wait, place] = messagePattern.exec(message) ?? []
    if (reloadedAt !== undefined) {
      this.#lastReload = Number(reloadedAt)
      return this.#dropRefused()
    }
    if (place === undefined) return
    const until = wait === '-' ? Number.POSITIVE_INFINITY : this.#clock.elapsed() + Number(wait)
    // `park` has written it.
    const [name, model] = JSON.parse(place) as [string, string]
    this.#put({ name, model, status: status === '429' ? 429 : 401, until })
  }

  /** Of two parkings the one that ends last counts. */
  #put({ name, model, ...parking }: Parking & { name: string; model: string }): void {
    const parkings = this.#parkings.get(name) ?? new Map<string, Parking>()
    this.#parkings.set(name, parkings)
    parkings.set(model, pickLast(parkings.get(model), parking) ?? parking)
  }

  #dropRefused(): void {
    for (const [name, parkings] of this.#parkings) {
      for (const [model, { until }] of parkings) {
        if (until === Number.POSITIVE_INFINITY) parkings.delete(model)
      }
      if (parkings.size === 0) this.#parkings.delete(name)
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

/** `reload` and its time, or: status, wait or `-`, and the place. */
const messagePattern = /^(?:reload (\d+)|(\d+) (-|\d+) (.+))$/s

function toText(wait: Millis): string {
  return String(Math.max(0, Math.ceil(wait)))
}
