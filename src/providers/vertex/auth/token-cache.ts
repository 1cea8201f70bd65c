import type { Millis } from '../../../core/ids.ts'
import type { Clock } from '../../../core/ports.ts'

/** A token as an authorization server hands it out. */
export interface FreshToken {
  readonly value: string
  /** From its receipt. */
  readonly lifetime: Millis
}

interface HeldToken {
  readonly value: string
  /** From here on a new one is asked for. On the clock that never jumps. */
  readonly renewAt: Millis
  readonly expiresAt: Millis
}

/** A token is renewed this long before its end, or at half of its life when that is short. */
const renewalMargin: Millis = 300_000

/**
 * Keeps the token of one credential. However many requests wait for a token, one exchange is under
 * way; a failed one is not kept, so the next request tries again.
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

  /** The value of a token that is still good for a while. Rejects as the exchange does. */
  async current(): Promise<string> {
    const token = this.#token
    if (token && this.#clock.elapsed() < token.renewAt) return token.value
    this.#renewal ??= this.#renew().finally(() => {
      this.#renewal = undefined
    })
    try {
      return (await this.#renewal).value
    } catch (error) {
      // The authorization server has trouble, and the token at hand is good until its end.
      if (token && token === this.#token && this.#clock.elapsed() < token.expiresAt) {
        return token.value
      }
      throw error
    }
  }

  /** Forgets the token at hand if it is the one meant: it is of no use, whatever its age. */
  discard(isMeant: (value: string) => boolean): void {
    // Another request may have brought a new one in the meantime.
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
