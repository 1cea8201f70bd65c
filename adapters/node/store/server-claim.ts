import { setTimeout as sleep } from 'node:timers/promises'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import type { Millis } from '../../../src/core/ids.ts'
import { type Claimant, type Lease, releaseLease, takeLease } from '../../../src/store/database.ts'
import type { Claim, OtherHolder } from './claim.ts'

export interface ServerClaimOptions {
  readonly db: LibSQLDatabase
  readonly holder: Claimant
  /** How long the lease remains without renewal. */
  readonly duration: Millis
  /** Whether another holder prevents the start. */
  readonly isRequired: boolean
  /** Called when the wait for another lease begins, with a description of its process. */
  readonly waiting: (process: string) => void
  /** Called when another process has taken the lease, with a description of it. */
  readonly lost: (process: string) => void
}

/** The claim on a database server: a lease that is renewed while the process lives. */
export class ServerClaim implements Claim {
  readonly #options: ServerClaimOptions
  #timer: NodeJS.Timeout | undefined
  #isLost = false

  constructor(options: ServerClaimOptions) {
    this.#options = options
  }

  async take(): Promise<OtherHolder | undefined> {
    const { duration, isRequired } = this.#options
    const other = isRequired ? await this.#waitForLease() : await this.#hold()
    if (other && isRequired) return other
    // When other gateways are allowed, a renewal takes the lease once it is free.
    this.#isLost = other !== undefined
    this.#timer ??= setInterval(() => void this.#renew(), duration / 3).unref()
    return other
  }

  /** Waits while the other lease is not renewed: a killed process leaves its lease behind. */
  async #waitForLease(): Promise<Lease | undefined> {
    const { duration, waiting } = this.#options
    const first = await this.#hold()
    if (first) waiting(first.process)
    for (let other = first; other; other = await this.#hold()) {
      const isRenewed = other.holder !== first?.holder || other.endsAt !== first.endsAt
      if (isRenewed) return other
      await sleep(duration / 30)
    }
    return undefined
  }

  async release(): Promise<void> {
    clearInterval(this.#timer)
    const { db, holder } = this.#options
    // When the server is unreachable, the lease expires by itself.
    await releaseLease(db, holder).catch(() => {})
  }

  #hold(): Promise<Lease | undefined> {
    const { db, holder, duration } = this.#options
    return takeLease(db, holder, duration)
  }

  async #renew(): Promise<void> {
    try {
      const other = await this.#hold()
      if (other && !this.#isLost) this.#options.lost(other.process)
      this.#isLost = other !== undefined
    } catch {
      // The next renewal tries again.
    }
  }
}
