import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { LibSQLDatabase } from 'drizzle-orm/libsql'
import type { Millis } from '../../../src/core/ids.ts'
import {
  type HeldState,
  type Holder,
  isOwnState,
  type Lease,
  type OwnState,
  readHeldState,
  releaseLease,
  takeLease,
  writeHeldState,
} from '../../../src/store/database.ts'
import type { Claim, OtherHolder, TakenClaim } from './claim.ts'

export interface ServerClaimOptions {
  readonly db: LibSQLDatabase
  readonly holder: Holder
  /** The state that this process shares; undefined when it shares none. */
  readonly state: OwnState | undefined
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
  /** The state of the lease: that of others once this process has joined them. */
  #held: HeldState | undefined
  #timer: NodeJS.Timeout | undefined
  #isLost = false

  constructor(options: ServerClaimOptions) {
    this.#options = options
    this.#held = options.state && { ...options.state.name, id: randomUUID() }
  }

  async take(): Promise<TakenClaim | OtherHolder> {
    const { duration, isRequired } = this.#options
    const other = isRequired ? await this.#waitForLease() : await this.#hold()
    if (other && isRequired) return { kind: 'other', ...other }
    // When other gateways are allowed, a renewal takes the lease once it is free.
    this.#isLost = other !== undefined
    this.#timer ??= setInterval(() => void this.#renew(), duration / 3).unref()
    return other ? { kind: 'other', ...other } : { kind: 'taken', id: this.#held?.id }
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

  /** Takes or renews the lease, alone or with those that share the state of this process. */
  async #hold(): Promise<Lease | undefined> {
    const other = await this.#takeLease()
    const held = other?.sharing ? readHeldState(other.sharing) : undefined
    const { state } = this.#options
    if (!held || !state || !isOwnState(held, state)) return other
    this.#held = held
    return this.#takeLease()
  }

  #takeLease(): Promise<Lease | undefined> {
    const { db, holder, duration } = this.#options
    const sharing = this.#held && writeHeldState(this.#held)
    return takeLease(db, { ...holder, sharing }, duration)
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
