import {
  type Cloud,
  type CloudCredential,
  CloudCredentialError,
  type CloudCredentialPort,
  type CloudSource,
  type CloudSourceState,
  cloudNames,
} from '../core/cloud-credential.ts'
import { UpstreamFault } from '../core/failure.ts'
import type { Millis } from '../core/ids.ts'
import type { Clock, Log, Timer, UpstreamPort } from '../core/ports.ts'
import { CancelScope } from '../wire/cancel-scope.ts'
import { LightAbortController } from '../wire/light-abort-controller.ts'

export interface RenewalPorts {
  readonly fetch: CloudCredentialPort
  readonly clock: Clock
  readonly log: Log
  readonly random: () => number
}

/** The credential that a provider is configured with. */
export interface CloudQuery {
  /** The name of the provider, for messages. */
  readonly provider: string
  readonly cloud: Cloud
  readonly profile: string | undefined
  readonly send: UpstreamPort
}

/**
 * A credential is renewed up to this long before it expires, or after half its lifetime when that is shorter.
 * The metadata services of AWS and Google have a new one only in the last five minutes.
 */
const maxLead: Millis = 300_000
/** The part of the lead that is not random, so that many gateways do not renew at the same moment. */
const fixedShare = 0.8
const minWait: Millis = 1_000

/** The waits after failures: they double up to the maximum. */
const firstRetryWait: Millis = 1_000
const maxRetryWait: Millis = 60_000

/** The limit of one fetch, during which requests may wait for their first credential. */
const maxFetchTime: Millis = 20_000

/**
 * Keeps a credential of a cloud fresh. Between `start` and `stop` it is renewed ahead of its expiry. While
 * renewals fail, the last credential stays in use until it expires. All callers share one fetch.
 */
export class RenewedCredential implements CloudSource {
  readonly #query: CloudQuery
  readonly #ports: RenewalPorts
  #isRunning = false
  #held: CloudCredential | undefined
  #secrets: readonly string[] = []
  #fetching: { readonly scope: CancelScope; readonly result: Promise<CloudCredential> } | undefined
  #next: Timer | undefined
  /** How many fetches have failed in a row, and why the last one has. */
  #failures = 0
  #reason: string | undefined

  constructor(query: CloudQuery, ports: RenewalPorts) {
    this.#query = query
    this.#ports = ports
  }

  get cloud(): Cloud {
    return this.#query.cloud
  }

  get secrets(): readonly string[] {
    return this.#secrets
  }

  get state(): CloudSourceState {
    const held = this.#findValid()
    if (held) return { kind: 'held', origin: held.origin }
    if (this.#reason === undefined) return { kind: 'fetching' }
    return { kind: 'failed', reason: this.#reason }
  }

  /** Fetches the credential now, and keeps it fresh until `stop`. May be called again. */
  start(): void {
    this.#isRunning = true
    // The failure is logged, and is the answer of `current`.
    this.#fetch().catch(() => {})
  }

  /** Ends the timer and the fetch. The credential may still be used until it expires. */
  stop(): void {
    this.#isRunning = false
    this.#next?.cancel()
    this.#fetching?.scope.end({ kind: 'abandoned' })
  }

  /** Resolves at the end of the running fetch, whatever its result. */
  async settle(): Promise<void> {
    await this.#fetching?.result.catch(() => {})
  }

  current(): CloudCredential | Promise<CloudCredential> {
    const held = this.#findValid()
    if (held) return held
    // The next fetch is scheduled. Requests do not wait for it, because they would probably wait in vain.
    if (this.#reason !== undefined && this.#isRunning) throw this.#createFault(this.#reason)
    return this.#fetch()
  }

  replace(refused: CloudCredential): void {
    // Another request may have replaced it in the meantime.
    if (this.#held !== refused) return
    this.#held = undefined
    this.#fetch().catch(() => {})
  }

  #findValid(): CloudCredential | undefined {
    const { expiresAt = Number.POSITIVE_INFINITY } = this.#held ?? {}
    return this.#ports.clock.now() < expiresAt ? this.#held : undefined
  }

  #fetch(): Promise<CloudCredential> {
    if (this.#fetching) return this.#fetching.result
    this.#next?.cancel()
    const scope = new CancelScope(this.#ports.clock)
    const result = this.#fetchWithin(scope).finally(() => {
      scope.close()
      this.#fetching = undefined
    })
    this.#fetching = { scope, result }
    return result
  }

  async #fetchWithin(scope: CancelScope): Promise<CloudCredential> {
    const { cloud, profile, send } = this.#query
    const signal = new LightAbortController()
    scope.onEnd(() => signal.abort())
    scope.endAfter(maxFetchTime, { kind: 'timeout', limit: 'total' })
    try {
      const fresh = await scope.race(this.#ports.fetch({ cloud, profile, send, signal }))
      return this.#accept(fresh)
    } catch (error) {
      const reason = describe(error)
      this.#fail(reason)
      throw this.#createFault(reason)
    }
  }

  #accept(fresh: CloudCredential): CloudCredential {
    const { clock, log, random } = this.#ports
    const left = (fresh.expiresAt ?? Number.POSITIVE_INFINITY) - clock.now()
    if (left <= 0) throw new CloudCredentialError('the credential that it provides has expired')
    if (this.#reason !== undefined && this.#isRunning) {
      log.write('info', 'the credential is available again', this.#fields({ origin: fresh.origin }))
    }
    this.#failures = 0
    this.#reason = undefined
    const before = this.#held ? listSecrets(this.#held) : []
    this.#secrets = [...new Set([...listSecrets(fresh), ...before])]
    this.#held = fresh
    const lead = Math.min(maxLead, left / 2) * (fixedShare + (1 - fixedShare) * random())
    if (Number.isFinite(left)) this.#schedule(Math.max(minWait, left - lead))
    return fresh
  }

  /** Logs the first failure in a row, and tries again later. */
  #fail(reason: string): void {
    if (!this.#isRunning) return
    const { clock, log, random } = this.#ports
    const { expiresAt } = this.#findValid() ?? {}
    const fields = this.#fields({
      reason,
      valid_for_ms: expiresAt === undefined ? undefined : expiresAt - clock.now(),
    })
    const isFirst = this.#reason === undefined
    log.write(isFirst ? 'warn' : 'debug', 'the credential cannot be fetched', fields)
    this.#reason = reason
    const wait = Math.min(maxRetryWait, firstRetryWait * 2 ** this.#failures++)
    this.#schedule(wait * (fixedShare + (1 - fixedShare) * random()))
  }

  #schedule(wait: Millis): void {
    if (!this.#isRunning) return
    this.#next = this.#ports.clock.schedule(wait, () => {
      this.#fetch().catch(() => {})
    })
  }

  #fields(more: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const { provider, cloud } = this.#query
    return { provider, cloud, ...more }
  }

  #createFault(reason: string): UpstreamFault {
    const { provider, cloud } = this.#query
    const message = `provider ${provider} has no ${cloudNames[cloud]} credential: ${reason}`
    return new UpstreamFault({ kind: 'no-credential', message })
  }
}

function describe(error: unknown): string {
  if (error instanceof CloudCredentialError) return error.message
  if (error instanceof UpstreamFault && error.failure.kind === 'timeout') {
    return `it is not available within ${maxFetchTime / 1000} seconds`
  }
  // Another message could contain a part of the credential.
  return 'the request for it has failed'
}

function listSecrets(credential: CloudCredential): readonly string[] {
  switch (credential.kind) {
    case 'access-key': {
      const { secret, sessionToken } = credential
      return sessionToken === undefined ? [secret] : [secret, sessionToken]
    }
    case 'token':
      return [credential.value]
    default:
      return credential satisfies never
  }
}
