import { getVendorError, type UpstreamFailure } from '../core/failure.ts'
import type { Model, UsableCredential } from '../core/provider.ts'
import { judgeCredential } from './credential-verdict.ts'
import type { CredentialCall, Credentials, ParkedCredential, TurnOptions } from './credentials.ts'

/** The outcome of a call, as far as a credential is concerned. */
type Outcome<T> =
  | (T & { readonly ok: true })
  | { readonly ok: false; readonly failure: UpstreamFailure }

interface KeyRefusal {
  readonly call: CredentialCall
  readonly status: number
}

/**
 * The credentials of one attempt at a provider that has several. A refusal is held until another credential
 * has been answered with the same request. When that one is refused alike, the request is at fault, not they;
 * when none is answered, nothing is known.
 */
export class CredentialTurn {
  readonly #credentials: Credentials
  readonly #link: Model
  readonly #left: UsableCredential[]
  #refusals: KeyRefusal[] = []
  #parked: ParkedCredential[] = []
  #isTooLarge = false
  #call: CredentialCall | undefined

  constructor(credentials: Credentials, options: TurnOptions) {
    this.#credentials = credentials
    this.#link = options.link
    this.#left = [...credentials.takeTurn(options)]
  }

  /** Returns the credential of the next call. Not called after `judge` has ended the attempt. */
  next(): UsableCredential | undefined {
    const credential = this.#call
      ? this.#left.find((one) => !this.#credentials.isParked(one, this.#link))
      : this.#credentials.pick(this.#left, this.#link)
    if (credential) {
      this.#left.splice(this.#left.indexOf(credential), 1)
      this.#call = { credential, link: this.#link, began: this.#credentials.now() }
    }
    return credential
  }

  /** Judges the call of the last credential. Returns the outcome of the attempt, unless another one is to be tried. */
  judge<T>(result: Outcome<T>): Outcome<T> | undefined {
    const call = this.#call
    if (!call) return result
    if (result.ok) {
      this.#credentials.succeed(call)
      this.#parkRefused()
      return result
    }
    const { failure } = result
    const verdict = judgeCredential(failure)
    switch (verdict?.kind) {
      case undefined:
        if (isAnswer(failure)) this.#parkRefused()
        return result
      case 'limited':
        this.#note(
          this.#credentials.limit(call, {
            retryAfter: verdict.retryAfter,
            refused: this.#refusals.map((one) => one.call.credential),
          }),
        )
        break
      case 'unsendable':
        this.#note(this.#credentials.suspend(call))
        break
      case 'too-large':
        if (this.#isTooLarge) return result
        this.#isTooLarge = true
        break
      case 'refused': {
        const { status } = verdict
        // A request that no credential may make says nothing of them.
        if (this.#refusals.some((one) => one.status === status)) return blameRequest(failure)
        this.#refusals.push({ call, status })
        break
      }
      default:
        return verdict satisfies never
    }
    if (this.#hasNext()) return undefined
    return { ok: false, failure: this.#toFinalFailure(failure) }
  }

  /** Returns the credentials that were parked since the last call of this function. */
  takeParked(): readonly ParkedCredential[] {
    const parked = this.#parked
    this.#parked = []
    return parked
  }

  #hasNext(): boolean {
    return this.#left.some((one) => !this.#credentials.isParked(one, this.#link))
  }

  #parkRefused(): void {
    for (const { call, status } of this.#refusals)
      this.#note(this.#credentials.refuse(call, status))
  }

  #note(parked: ParkedCredential | undefined): void {
    if (parked) this.#parked.push(parked)
  }

  /** The failure of an attempt that has no credential left to try. */
  #toFinalFailure(failure: UpstreamFailure): UpstreamFailure {
    const wait = this.#credentials.findLimitWait(this.#link)
    if (wait === undefined || judgeCredential(failure)?.kind === 'too-large') return failure
    if (failure.kind !== 'status' || failure.status !== 429) {
      const message = failure.kind === 'status' ? failure.message : ''
      const vendor = getVendorError(failure)
      return { kind: 'credentials-parked', message, vendor, retryAfter: wait }
    }
    // Another credential may come back sooner than this one.
    const { retryAfter } = failure
    return retryAfter === undefined
      ? failure
      : { ...failure, retryAfter: Math.min(retryAfter, wait) }
  }
}

/** True when an upstream has answered a request, so that it has not refused the credential. */
function isAnswer({ kind }: UpstreamFailure): boolean {
  return (
    kind === 'status' || kind === 'malformed' || kind === 'closed-early' || kind === 'error-frame'
  )
}

function blameRequest(failure: UpstreamFailure): { ok: false; failure: UpstreamFailure } {
  return {
    ok: false,
    failure: failure.kind === 'status' ? { ...failure, isRequestFault: true } : failure,
  }
}
