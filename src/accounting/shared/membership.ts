import type { Millis } from '../../core/ids.ts'
import type { Clock, Log, Timer } from '../../core/ports.ts'
import type { SharedState } from '../../core/shared-state.ts'
import type { Configurations } from './configurations.ts'
import type { SharedFunctions } from './functions.ts'
import { writeRecord } from './hold.ts'
import { isLoss } from './loss.ts'
import type { LostHolds } from './lost-holds.ts'
import type { LostRows } from './lost-rows.ts'
import type { OpenHolds } from './open-holds.ts'
import type { PastAccounts } from './past-accounts.ts'
import type { ProcessCharges } from './process-charges.ts'
import type { ProcessReconciler } from './process-reconciler.ts'
import type { Settlements } from './settlements.ts'
import type { StrayHolds } from './stray-holds.ts'

export interface MembershipOptions {
  readonly state: SharedState
  readonly process: string
  readonly lease: Millis
  readonly clock: Clock
  readonly log: Log
  readonly functions: Pick<SharedFunctions, 'open' | 'renew' | 'restore'>
  readonly charges: ProcessCharges
  readonly settlements: Settlements
  readonly configurations: Configurations
  readonly past: PastAccounts
  readonly holds: OpenHolds
  readonly strays: StrayHolds
  readonly lost: LostHolds
  readonly reconciler: ProcessReconciler
  readonly lostRows: LostRows
}

/** Holds per call, so that no call holds the server up. */
const maxPerCall = 100

/** Joins the processes that share a server, and keeps the leases of this one. */
export class Membership {
  readonly #options: MembershipOptions
  #epoch = ''
  #joining: Promise<void> | undefined
  #timer: Timer | undefined
  #isClosed = false

  constructor(options: MembershipOptions) {
    this.#options = options
  }

  /** Joins the other processes, now and whenever the server has been away or has lost its data. */
  start(): void {
    const { state } = this.#options
    state.onUp(() => this.#rejoin())
    state.subscribe('epoch', (epoch) => this.follow(epoch))
    if (state.isUp) this.#rejoin()
    this.#scheduleRenewal()
  }

  /** Joins again when the data of the server has begun a new life. */
  follow(epoch: string): void {
    if (epoch !== this.#epoch) this.#rejoin()
  }

  /**
   * Sends the server everything that this process knows: when it is reached again, and when it has lost its
   * data. Never rejects.
   */
  join(): Promise<void> {
    this.#joining ??= this.#guard(() => this.#sendAll()).finally(() => {
      this.#joining = undefined
    })
    return this.#joining
  }

  /** Resolves when no join is running. */
  async idle(): Promise<void> {
    await this.#joining
  }

  /** Ends the renewals. */
  close(): void {
    this.#isClosed = true
    this.#timer?.cancel()
  }

  #rejoin(): void {
    void this.join()
  }

  async #sendAll(): Promise<void> {
    if (this.#isClosed) return
    const { functions, charges, settlements, configurations, strays, past, reconciler } =
      this.#options
    // Set at once, so that the reply itself does not count as a change.
    const { epoch } = await functions.open(crypto.randomUUID())
    this.#epoch = epoch
    settlements.sendPending(charges.names())
    past.noteSent(charges.names())
    await this.#renew()
    await configurations.sendPending()
    await strays.endAll()
    // Admissions that wait for this join do not wait for these.
    void reconciler.reconcileSoon()
  }

  #scheduleRenewal(): void {
    const { clock, lease, state } = this.#options
    this.#timer = clock.schedule(lease / 4, () => {
      const renewal = state.isUp ? this.#guard(() => this.#renewAll()) : Promise.resolve()
      void renewal.then(() => {
        if (!this.#isClosed) this.#scheduleRenewal()
      })
    })
  }

  async #renewAll(): Promise<void> {
    const { settlements, configurations, strays, past, reconciler, lostRows } = this.#options
    await this.#renew()
    await strays.endSome()
    settlements.sendPending()
    await configurations.sendPending()
    await reconciler.renew()
    await lostRows.save()
    await past.send()
  }

  /** Renews all leases. Without any it makes the call all the same, which finds lost holds. */
  async #renew(): Promise<void> {
    const { functions, process, holds, lost } = this.#options
    const ids = holds.ids()
    for (let at = 0; at === 0 || at < ids.length; at += maxPerCall) {
      const { unknown, claims } = await functions.renew(ids.slice(at, at + maxPerCall))
      lost.end(claims)
      // Some may have ended in the meantime.
      const missing = unknown.flatMap((id) => holds.get(id) ?? [])
      if (missing.length === 0) continue
      for (const hold of missing) holds.know(hold.id)
      await functions.restore(missing.map((hold) => [hold.id, writeRecord(process, hold)]))
    }
  }

  /** Waits for calls that the server may not be able to answer. */
  async #guard(run: () => Promise<void>): Promise<void> {
    try {
      await run()
    } catch (error) {
      if (isLoss(error)) return
      this.#options.log.write('error', 'the shared state has failed', { error: String(error) })
    }
  }
}
