import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { Model, Provider, UsableCredential } from '../core/provider.ts'
import type { ParkedCredentials, Parking, ParkingPlace } from './parked-credentials.ts'

/** A credential that a failure has parked, for the log. */
export interface ParkedCredential {
  readonly credential: UsableCredential
  readonly status: number
  /** The only model that it is parked for; undefined for all models of its provider. */
  readonly model: string | undefined
  /** How long it is parked. */
  readonly wait: Millis
}

/** A credential that is parked now, as an operator sees it. */
export interface CurrentParking {
  /** The variable that holds the credential. */
  readonly credential: string
  /** The only model that it is parked for; undefined for all models of its provider. */
  readonly model: string | undefined
  readonly reason: 'rate_limited' | 'refused'
  readonly remaining: Millis
}

/** The next call to a link. */
export interface TurnOptions {
  readonly link: Model
  /** The name of the credential that goes first unless it is parked. */
  readonly preferred?: string | undefined
}

/** A call that carried a credential, and when it began on the clock that never jumps. */
export interface CredentialCall {
  readonly link: Model
  readonly credential: UsableCredential
  readonly began: Millis
}

/** How long a rate limit parks a credential when the provider does not say. */
const defaultWait: Millis = 10_000
/** The longest time for which a rate limit parks one, whatever the provider says. */
const maxLimitWait: Millis = 300_000
/** The first refusal parks for this time, each further one for twice as long. */
const firstRefusalWait: Millis = 60_000
const maxRefusalWait: Millis = 3_600_000

/**
 * The credentials of providers that have several: requests carry them in turn, except those that are parked.
 * The last one that is usable for a model is never parked, so a provider always has one. A parked one comes
 * back by itself: the next request after its time carries it. Until a request has succeeded with it, it is no
 * reason to park another one.
 */
export class Credentials {
  readonly #clock: Clock
  readonly #parked: ParkedCredentials
  readonly #next = new WeakMap<Provider, number>()

  constructor(clock: Clock, parked: ParkedCredentials) {
    this.#clock = clock
    this.#parked = parked
  }

  /**
   * Returns every credential of the link's provider, in the order in which an attempt tries them. A preferred one
   * takes no turn, unless it is parked.
   */
  takeTurn({ link, preferred }: TurnOptions): readonly UsableCredential[] {
    const turn = this.#previewTurn(link)
    const { provider } = link
    const kept = preferred === undefined ? undefined : this.#findUsable(link, preferred)
    if (kept) return [kept, ...turn.filter((one) => one !== kept)]
    const first = this.#next.get(provider) ?? 0
    this.#next.set(provider, (first + 1) % turn.length)
    return turn
  }

  /** Returns the credential of a single call, which takes a turn; undefined when the provider has none. */
  takeNext(link: Model): UsableCredential | undefined {
    const { usable } = link.provider
    return usable.length < 2 ? usable[0] : this.pick(this.takeTurn({ link }), link)
  }

  /** Returns the credential of the next call to a link, which keeps its turn. */
  previewNext({ link, preferred }: TurnOptions): UsableCredential | undefined {
    const { usable } = link.provider
    if (usable.length < 2) return usable[0]
    const kept = preferred === undefined ? undefined : this.#findUsable(link, preferred)
    return kept ?? this.pick(this.#previewTurn(link), link)
  }

  #findUsable(link: Model, name: string): UsableCredential | undefined {
    const found = link.provider.usable.find((one) => one.name === name)
    return found && !this.isParked(found, link) ? found : undefined
  }

  /**
   * Picks the first credential of a turn that is not parked. When two processes have parked the last two at
   * the same time, it is the one that comes back first.
   */
  pick(turn: readonly UsableCredential[], link: Model): UsableCredential | undefined {
    const usable = turn.find((one) => !this.isParked(one, link))
    if (usable) return usable
    const ends = turn.map((one) => this.#findEnd(one, link))
    return turn[ends.indexOf(Math.min(...ends))]
  }

  isParked(credential: UsableCredential, link: Model): boolean {
    return this.#findEnd(credential, link) > this.#clock.elapsed()
  }

  /** True when a credential of several is parked for a link. */
  hasParked(link: Model): boolean {
    const { usable } = link.provider
    return usable.length > 1 && usable.some((one) => this.isParked(one, link))
  }

  /** The time at which a call begins. */
  now(): Millis {
    return this.#clock.elapsed()
  }

  /** The credentials of a provider that are parked now, in the order of the configuration. */
  listParked(provider: Pick<Provider, 'name' | 'usable'>): readonly CurrentParking[] {
    const now = this.#clock.elapsed()
    return provider.usable.flatMap((credential) => {
      const byModel = new Map<string, CurrentParking>()
      for (const { model, cause, until } of this.#parked.list(credential, provider)) {
        const remaining = until - now
        if (remaining <= 0 || remaining < (byModel.get(model)?.remaining ?? 0)) continue
        byModel.set(model, {
          credential: credential.name,
          model: model === '' ? undefined : model,
          reason: cause === 'limited' ? 'rate_limited' : 'refused',
          remaining,
        })
      }
      return [...byModel.values()]
    })
  }

  /**
   * Parks a credential because of a rate limit: for the time that the provider asks for, within bounds.
   * `refused`: the credentials with which the same request was refused, which may not be usable either.
   */
  limit(
    { credential, link }: CredentialCall,
    {
      retryAfter = defaultWait,
      refused,
    }: { readonly retryAfter: Millis | undefined; readonly refused: readonly UsableCredential[] },
  ): ParkedCredential | undefined {
    if (this.#isLastUsable([credential, ...refused], link, '')) return undefined
    const wait = Math.min(retryAfter, maxLimitWait)
    this.#park(credential, link, { model: '', cause: 'limited', refusals: 0, wait })
    return { credential, status: 429, model: undefined, wait }
  }

  /** Parks a credential that could not be sent: its file cannot be read yet. */
  suspend({ credential, link }: CredentialCall): ParkedCredential | undefined {
    if (this.#isLastUsable([credential], link, '')) return undefined
    const wait = defaultWait
    this.#park(credential, link, { model: '', cause: 'unsendable', refusals: 0, wait })
    return { credential, status: 401, model: undefined, wait }
  }

  /**
   * Parks a credential that the provider refused: with 401 for all its models, with another status for that of
   * the call. A call that began before the credential came back says nothing new of it.
   */
  refuse(call: CredentialCall, status: number): ParkedCredential | undefined {
    const { credential, link, began } = call
    const model = status === 401 ? '' : link.id
    if (this.#isLastUsable([credential], link, model)) return undefined
    const place = { model, cause: 'refused' } as const
    const known = this.#find(credential, link, place)
    if (known && began < known.until) return undefined
    const refusals = (known?.refusals ?? 0) + 1
    const wait = getRefusalWait(refusals)
    this.#park(credential, link, { ...place, refusals, wait })
    return { credential, status, model: model === '' ? undefined : model, wait }
  }

  /** Ends the count of refusals: a call that began after the last one has succeeded. */
  succeed({ credential, link, began }: CredentialCall): void {
    for (const parking of this.#parked.list(credential, link.provider)) {
      if (parking.cause !== 'refused' || !isFor(parking, link)) continue
      const { until, refusals } = parking
      if (began > until - getRefusalWait(refusals)) {
        this.#parked.free(credential, link.provider, parking)
      }
    }
  }

  /** Tries the credentials again that providers have refused: the configuration was reloaded. */
  forgetRefused(): void {
    this.#parked.forgetRefused()
  }

  /** The shortest wait until a rate limit of a credential ends; undefined when none is parked for one. */
  findLimitWait(link: Model): Millis | undefined {
    const now = this.#clock.elapsed()
    const waits = link.provider.usable.flatMap((credential) =>
      Array.from(this.#parked.list(credential, link.provider))
        .filter((parking) => parking.cause === 'limited' && isFor(parking, link))
        .map(({ until }) => until - now),
    )
    const left = waits.filter((wait) => wait > 0)
    return left.length === 0 ? undefined : Math.min(...left)
  }

  #previewTurn({ provider }: Model): readonly UsableCredential[] {
    const { usable } = provider
    const first = this.#next.get(provider) ?? 0
    return [...usable.slice(first), ...usable.slice(0, first)]
  }

  /** When the last parking of a credential for a link ends; 0 when it has none. */
  #findEnd(credential: UsableCredential, link: Model): Millis {
    let end: Millis = 0
    for (const parking of this.#parked.list(credential, link.provider)) {
      if (isFor(parking, link) && parking.until > end) end = parking.until
    }
    return end
  }

  #find(
    credential: UsableCredential,
    { provider }: Model,
    { model, cause }: ParkingPlace,
  ): Parking | undefined {
    return Array.from(this.#parked.list(credential, provider)).find(
      (one) => one.model === model && one.cause === cause,
    )
  }

  /**
   * True when a model would have no credential without these that is neither parked nor was refused last.
   * `model`: empty for all models.
   */
  #isLastUsable(
    credentials: readonly UsableCredential[],
    { id, provider }: Model,
    model: string,
  ): boolean {
    const now = this.#clock.elapsed()
    const others = provider.usable
      .filter((one) => !credentials.includes(one))
      .map((one) => {
        const parkings = Array.from(this.#parked.list(one, provider))
        const doubtful = parkings.filter(({ until, refusals }) => refusals > 0 || until > now)
        return new Set(doubtful.map((each) => each.model))
      })
    const models = model === '' ? [id, ...others.flatMap((doubtful) => [...doubtful])] : [model]
    return models.some((each) => others.every((one) => one.has('') || one.has(each)))
  }

  #park(
    credential: UsableCredential,
    { provider }: Model,
    { wait, ...parking }: Omit<Parking, 'until'> & { readonly wait: Millis },
  ): void {
    const until = this.#clock.elapsed() + wait
    this.#parked.park(credential, provider, { ...parking, until })
  }
}

function isFor({ model }: ParkingPlace, { id }: Model): boolean {
  return model === '' || model === id
}

function getRefusalWait(refusals: number): Millis {
  return Math.min(firstRefusalWait * 2 ** (refusals - 1), maxRefusalWait)
}
