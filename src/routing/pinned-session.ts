import { isPinned, type NamedSession, type Pin } from '../core/affinity.ts'
import type { Millis } from '../core/ids.ts'
import type { Model } from '../core/provider.ts'
import type { ModelRoute } from '../core/route.ts'
import type { HeldPin, Pins } from './pins.ts'

/** A route with something to pin. */
export interface PinnedSessionOptions {
  readonly pins: Pins
  readonly route: ModelRoute
  /** Without its name, which may be long. */
  readonly named: Omit<NamedSession, 'name'>
  /** The hash by which the session is found. */
  readonly key: string
}

/** A session keeps so many credentials, each of another provider. */
const maxCredentials = 8

/** Vendors keep prompts for so long that are marked with an hour. */
const longLife: Millis = 3_600_000

/** One request of a session: what served the session last, and what serves the request. */
export class PinnedSession {
  readonly #options: PinnedSessionOptions
  /** The pin with which the request goes to its links. */
  #seen: HeldPin | undefined
  #hasSeen = false

  constructor(options: PinnedSessionOptions) {
    this.#options = options
  }

  /** Learns what other processes know, in a call that is made anyway. Undefined where there is none. */
  read(): Promise<void> | undefined {
    const { pins, key } = this.#options
    return pins.read(key)
  }

  /** The id of the target that goes first if it takes a call; undefined without one. */
  get target(): string | undefined {
    const { route, named } = this.#options
    if (!route.affinity || !isPinned(route.affinity.targets, named.kind)) return undefined
    return this.#pin?.target
  }

  /** The name of the credential that goes first at a provider unless it is parked; undefined without one. */
  findCredential(link: Model): string | undefined {
    if (!this.#pinsCredential(link)) return undefined
    return findCredential(this.#pin, link)
  }

  /** Pins what has served the request. */
  serve(link: Model, credential: string | undefined): void {
    const { pins, key } = this.#options
    const before = this.#pin
    const pin = this.#makePin(before, link, credential)
    if (before) pins.count(pin === before && this.#isAtTarget(link) ? 'hit' : 'moved')
    // A fallback of one key is not pinned, so the session goes back to where it was.
    if (!pin) return
    if (!before) pins.count('new')
    const current = pins.find(key)
    // The session has moved since the request began.
    if (current && current !== this.#seen) return
    const ttl = this.#findTtl(link)
    if (pin === before && current) pins.renew(key, current, ttl)
    else pins.set(key, pin, { version: this.#seen?.version ?? 0, ttl })
  }

  get #pin(): Pin | undefined {
    const { pins, key } = this.#options
    if (!this.#hasSeen) this.#seen = pins.find(key)
    this.#hasSeen = true
    return this.#seen?.pin
  }

  /** Returns the pin of a request that was served so: `before` when it is the same, undefined for none. */
  #makePin(before: Pin | undefined, link: Model, credential: string | undefined): Pin | undefined {
    const pinsTarget = this.#pinsTarget(link)
    const pinsCredential = credential !== undefined && this.#pinsCredential(link)
    if (!pinsTarget && !pinsCredential) return undefined
    const target = pinsTarget ? link.id : (before?.target ?? '')
    const isKept = !pinsCredential || findCredential(before, link) === credential
    if (before && before.target === target && isKept) return before
    const credentials = before?.credentials ?? []
    if (!pinsCredential) return { target, credentials }
    const { name } = link.provider
    const others = credentials.filter(([provider]) => provider !== name)
    return {
      target,
      credentials: [[name, credential] as const, ...others].slice(0, maxCredentials),
    }
  }

  /** False for a fallback that has served in place of the pinned target. */
  #isAtTarget({ id }: Model): boolean {
    const { target } = this
    return target === undefined || target === '' || target === id
  }

  #pinsTarget({ id }: Model): boolean {
    const { route, named } = this.#options
    const { affinity, balance } = route
    if (!affinity || !balance || !isPinned(affinity.targets, named.kind)) return false
    return balance.targets.some(({ model, weight }) => model.id === id && weight > 0)
  }

  #pinsCredential({ provider }: Model): boolean {
    return provider.usable.length > 1 && isPinned(provider.affinity, this.#options.named.kind)
  }

  #findTtl(link: Model): Millis {
    const { route, named } = this.#options
    const targets = this.#pinsTarget(link) ? route.affinity?.targets.ttl : 0
    const credentials = this.#pinsCredential(link) ? link.provider.affinity.ttl : 0
    return Math.max(targets ?? 0, credentials, named.keepsLong ? longLife : 0)
  }
}

function findCredential(pin: Pin | undefined, { provider }: Model): string | undefined {
  return pin?.credentials.find(([name]) => name === provider.name)?.[1]
}
