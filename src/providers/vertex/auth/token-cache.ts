import type { Millis } from '../../../core/ids.ts'
import type { Clock } from '../../../core/ports.ts'

/** A token as an authorization server issues it. */
export interface FreshToken {
  readonly value: string
  /** Counted from the time of the answer. */
  readonly lifetime: Millis
}

interface HeldToken {
  readonly value: string
  /** When to request the next token. Both times are on the monotonic clock. */
  readonly renewAt: Millis
  readonly expiresAt: Millis
}

/**
 * A token is renewed this long before it expires, or after half its lifetime when that is shorter.
 */
const renewalMargin: Millis = 300_000

/**
 * The access token of one credential. All requests that need a new token share one exchange. A
 * failure is not cached, so the next request tries again.
 *
 * Unlike `RenewedCredential`, it has no timer and no state to report: credentials JSON is a secret of the
 * configuration, which is exchanged when a request needs a token, and never before the gateway serves.
 */
export class TokenCache {
  readonly #fetch: () => Promise<FreshToken>
  readonly #clock: Clock
  #token: HeldToken | undefined
  #renewal: Promise<HeldToken> | undefined

  constructor(fetch: () => Promise<FreshToken>, clock: Clock) {
    this.#fetch = fetch
    this.#clock = clock
  }

  /** Returns a token that remains valid for some time. Rejects as the exchange does. */
  async current(): Promise<string> {
    const token = this.#token
    if (token && this.#clock.elapsed() < token.renewAt) return token.value
    this.#renewal ??= this.#renew().finally(() => {
      this.#renewal = undefined
    })
    try {
      return (await this.#renewal).value
    } catch (error) {
      // The exchange failed, but the current token is valid until it expires.
      if (token && token === this.#token && this.#clock.elapsed() < token.expiresAt) {
        return token.value
      }
      throw error
    }
  }

  /** Discards the current token if it is the one that the upstream refused. */
  discard(isMeant: (value: string) => boolean): void {
    // Another request may have renewed the token in the meantime.
    if (this.#token && isMeant(this.#token.value)) this.#token = undefined
  }

  async #renew(): Promise<HeldToken> {
    const { value, lifetime } = await this.#fetch()
    const now = this.#clock.elapsed()
    this.#token = {
      value,
      renewAt: now + (lifetime > renewalMargin ? lifetime - renewalMargin : lifetime / 2),
      expiresAt: now + lifetime,
    }
    return this.#token
  }
}
