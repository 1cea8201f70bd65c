import { setTimeout as sleep } from 'node:timers/promises'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import type { Millis } from '../../../src/core/ids.ts'
import { type Holder, type Lease, releaseLease, takeLease } from '../../../src/store/database.ts'
import type { Claim } from './claim.ts'

export interface ServerClaimOptions {
  readonly db: LibSQLDatabase
  readonly holder: Holder
  /** How long the lease outlives a process that does not renew it. */
  readonly duration: Millis
  /** No other gateway is allowed. */
  readonly isSole: boolean
  /** Called while a lease is waited for, with its process for people. */
  readonly waiting: (process: string) => void
  /** Called when another process has taken the lease. */
  readonly lost: (process: string) => void
}

/** The place on a database server: a lease that is renewed while the process lives. */
export class ServerClaim implements Claim {
  readonly #options: ServerClaimOptions
  #timer: NodeJS.Timeout | undefined
  #isLost = false

  constructor(options: ServerClaimOptions) {
    this.#options = options
  }

  async take(): Promise<string | undefined> {
    const { duration, isSole } = this.#options
    const other = isSole ? await this.#waitForLease() : await this.#hold()
    if (other && isSole) return other.process
    // Where others are allowed, the lease is taken once it is free.
    this.#isLost = other !== undefined
    this.#timer ??= setInterval(() => void this.#renew(), duration / 3).unref()
    return other?.process
  }

  /** A killed process leaves its lease behind: one that is not renewed is waited for. */
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
    // It ends by itself where the server is away.
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
      // A server that is away is asked again in time for the next renewal.
    }
  }
}
