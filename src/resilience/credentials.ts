import { getVendorError, type UpstreamFailure } from '../core/failure.ts'
import type { Millis } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import type { Model, Provider, UsableCredential } from '../core/provider.ts'
import type { ParkedCredentials } from './parked-credentials.ts'

/** A credential that a failure has parked, for the log. */
export interface ParkedCredential {
  readonly credential: UsableCredential
  readonly status: number
  /** How long it is parked; undefined for until the next reload. */
  readonly wait: Millis | undefined
}

/** A credential that is parked now, as an operator sees it. */
export interface CurrentParking {
  /** The variable that holds the credential. */
  readonly credential: string
  /** The only model that it is parked for; undefined for all models of its provider. */
  readonly model: string | undefined
  readonly reason: 'rate_limited' | 'refused'
  /** Undefined for until the next reload. */
  readonly remaining: Millis | undefined
}

/** How long a rate limit parks a credential when the provider does not say. */
const defaultWait: Millis = 10_000

/**
 * The credentials of providers that have several: requests carry them in turn, except those that are
 * parked. A lone credential is never parked.
 */
export class Credentials {
  readonly #clock: Clock
  readonly #parked: ParkedCredentials
  readonly #next = new WeakMap<Provider, number>()

  constructor(clock: Clock, parked: ParkedCredentials) {
    this.#clock = clock
    this.#parked = parked
  }

  /** Returns every credential of the link's provider, in the order in which an attempt tries them. */
  takeTurn(link: Model): readonly UsableCredential[] {
    const turn = this.previewTurn(link)
    const { provider } = link
    const first = this.#next.get(provider) ?? 0
    this.#next.set(provider, (first + 1) % turn.length)
    return turn
  }

  /** Returns the credentials in the order of the next attempt, which keeps its turn. */
  previewTurn({ provider }: Model): readonly UsableCredential[] {
    const { usable } = provider
    const first = this.#next.get(provider) ?? 0
    return [...usable.slice(first), ...usable.slice(0, first)]
  }

  /** Returns the credential of the next call to a link; undefined when there is none that is usable now. */
  findNext(link: Model): UsableCredential | undefined {
    const turn = this.previewTurn(link)
    return turn.length < 2 ? turn[0] : turn.find((one) => !this.isParked(one, link))
  }

  isParked(credential: UsableCredential, link: Model): boolean {
    const parking = this.#parked.find(credential, link)
    return parking !== undefined && parking.until > this.#clock.elapsed()
  }

  /** The credentials of a provider that are parked now, in the order of the configuration. */
  listParked(provider: Pick<Provider, 'name' | 'usable'>): readonly CurrentParking[] {
    const now = this.#clock.elapsed()
    return provider.usable.flatMap((credential) =>
      Array.from(this.#parked.list(credential, provider))
        .filter(([, { until }]) => until > now)
        .map(
          ([model, { status, until }]): CurrentParking => ({
            credential: credential.name,
            model: model === '' ? undefined : model,
            reason: status === 429 ? 'rate_limited' : 'refused',
            remaining: until === Number.POSITIVE_INFINITY ? undefined : until - now,
          }),
        ),
    )
  }

  /** True when every credential of a provider is parked for all its models, so that no request can be sent. */
  areAllParked(provider: Pick<Provider, 'name' | 'usable'>): boolean {
    const whole = this.listParked(provider).filter(({ model }) => model === undefined)
    return whole.length > 0 && whole.length === provider.usable.length
  }

  /** Parks a credential that a call has failed because of. Returns undefined for another failure. */
  park(
    credential: UsableCredential,
    link: Model,
    failure: UpstreamFailure,
  ): ParkedCredential | undefined {
    const cause = findCause(failure)
    if (!cause) return undefined
    const { status, wait } = cause
    const until = wait === undefined ? Number.POSITIVE_INFINITY : this.#clock.elapsed() + wait
    // A 403 may concern a single model that the account may not use.
    const scope = { provider: link.provider, model: status === 403 ? link.id : '' }
    this.#parked.park(credential, { status: status === 429 ? 429 : 401, until }, scope)
    return { credential, status, wait }
  }

  /** Tries the credentials again that providers have refused: the configuration was reloaded. */
  forgetRefused(): void {
    this.#parked.forgetRefused()
  }

  /** The failure of a link when all credentials are parked. `last`: what parked the last one just now. */
  createFailure(link: Model, last?: UpstreamFailure): UpstreamFailure {
    const parkings = link.provider.usable.flatMap((one) => this.#parked.find(one, link) ?? [])
    const limits = parkings.filter(({ status }) => status === 429)
    const message = last?.kind === 'status' ? last.message : ''
    const vendor = last && getVendorError(last)
    if (limits.length === 0) return { kind: 'credentials-parked', status: 401, message, vendor }
    const until = Math.min(...limits.map((limit) => limit.until))
    const retryAfter = Math.max(0, until - this.#clock.elapsed())
    return { kind: 'credentials-parked', status: 429, message, vendor, retryAfter }
  }
}

interface Cause {
  readonly status: number
  readonly wait: Millis | undefined
}

function findCause(failure: UpstreamFailure): Cause | undefined {
  // It may be a file that cannot be read yet.
  if (failure.kind === 'no-credential') return { status: 401, wait: defaultWait }
  if (failure.kind !== 'status') return undefined
  const { status, retryAfter = defaultWait } = failure
  if (status === 429) return { status, wait: retryAfter }
  return status === 401 || status === 403 ? { status, wait: undefined } : undefined
}
