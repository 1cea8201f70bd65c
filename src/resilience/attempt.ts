import type { UpstreamFailure } from '../core/failure.ts'
import type { Model, UsableCredential } from '../core/provider.ts'
import type { Usage } from '../core/usage.ts'
import type { CancelScope } from '../wire/cancel-scope.ts'
import { CredentialTurn } from './credential-turn.ts'
import type { Credentials, ParkedCredential } from './credentials.ts'

/** The outcome of one upstream call. */
export type CallResult<T> =
  /** `opened`: the value is a stream that has only begun, and may still fail. */
  | (Resent & { readonly ok: true; readonly value: T; readonly opened?: true })
  | (Resent & Billed & { readonly ok: false; readonly failure: UpstreamFailure })

interface Billed {
  /** What the vendor bills for the call, which has failed only with its answer. */
  readonly usage?: Usage | undefined
}

/** What a vendor bills for a call. */
export interface CallBill {
  readonly usage: Usage
  /** Undefined for a call that is not billed by them. */
  readonly searchUnits: number | undefined
}

interface Resent {
  /** The request was sent twice, because the first connection was lost at once. */
  readonly resent?: true
}

/** One upstream call that is to be made. */
export interface Attempt {
  readonly link: Model
  /** May end the call at any point. */
  readonly scope: CancelScope
  /** The credential of the call; undefined when the provider has none that is usable. */
  readonly credential: UsableCredential | undefined
  /** False once an earlier attempt on the link has been resent. */
  readonly mayResend: boolean
  /** How many calls with the same content the link has had before. */
  readonly resends: number
}

/** A request whose calls are recorded. */
export interface RecordedRequest {
  /** Called after each call. */
  onAttempt(link: Model, result: CallResult<unknown>): void
  /** Returns the name of the credential to try first at a link; undefined for the next one in turn. */
  findCredential?(link: Model): string | undefined
  /**
   * False once calls that failed are charged, and the budget has no room for another one. The request then ends
   * with what failed.
   */
  readonly mayCallAgain: boolean | Promise<boolean>
  /** Called with the calls that were answered in vain, because another part of the request failed on the link. */
  onUnused(link: Model, calls: readonly CallBill[]): void
  /** Called when a credential is parked. */
  onParked(link: Model, parked: ParkedCredential): void
}

export interface AttemptOptions<T> extends Omit<Attempt, 'credential'> {
  readonly request: RecordedRequest
  readonly credentials: Credentials
  /** Makes one upstream call. */
  readonly call: (attempt: Attempt) => Promise<CallResult<T>>
}

/** The outcome of one attempt, and how many calls it took. */
export interface AttemptResult<T> {
  readonly result: CallResult<T>
  readonly calls: number
}

/**
 * Makes one attempt on a link: one call, and another one at once with the next credential for every call that
 * failed because of its credential.
 */
export async function makeAttempt<T>(options: AttemptOptions<T>): Promise<AttemptResult<T>> {
  const { request, credentials, link, scope, call } = options
  const { usable } = link.provider
  if (usable.length < 2) {
    const { mayResend, resends } = options
    const result = await call({ link, scope, credential: usable[0], mayResend, resends })
    request.onAttempt(link, result)
    return { result, calls: countCalls(result) }
  }
  const preferred = request.findCredential?.(link)
  const turn = new CredentialTurn(credentials, { link, preferred })
  let { mayResend } = options
  let calls = 0
  let resent: true | undefined
  for (;;) {
    const ended = scope.expire()
    if (ended) return { result: { ok: false, failure: ended }, calls }
    const credential = turn.next()
    const resends = options.resends + calls
    const result = await call({ link, scope, credential, mayResend, resends })
    calls += countCalls(result)
    request.onAttempt(link, result)
    if (result.resent) resent = true
    mayResend &&= !result.resent
    const end = turn.judge(result)
    for (const parked of turn.takeParked()) request.onParked(link, parked)
    if (end) return { result: resent ? { ...end, resent } : end, calls }
  }
}

/** Without a credential no call is made. */
function countCalls(result: CallResult<unknown>): number {
  return !result.ok && result.failure.kind === 'no-credential' ? 0 : 1
}
