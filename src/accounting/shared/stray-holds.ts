import type { SharedFunctions } from './functions.ts'
import type { OpenHolds } from './open-holds.ts'
import type { ProcessCharges } from './process-charges.ts'
import type { Settlements } from './settlements.ts'

export interface StrayHoldOptions {
  readonly functions: Pick<SharedFunctions, 'listHolds'>
  readonly holds: Pick<OpenHolds, 'has'>
  readonly charges: ProcessCharges
  readonly settlements: Settlements
}

/** Where a list begins, and ends. */
const start = '0'

/**
 * Ends the holds under the name of this process that it does not have. A server that went back in time, to a
 * snapshot or on a replica that was behind, has reservations of requests that have ended since. Other processes
 * keep these for long, because a process that is only slow still has to report what such a request cost.
 */
export class StrayHolds {
  readonly #options: StrayHoldOptions
  #cursor = start

  constructor(options: StrayHoldOptions) {
    this.#options = options
  }

  /** Ends all of them. Rejects when the server cannot be used. */
  async endAll(): Promise<void> {
    this.#cursor = start
    do await this.endSome()
    while (this.#cursor !== start)
  }

  /** Looks through some of the holds on the server, and goes on with others the next time. */
  async endSome(): Promise<void> {
    const { functions, holds, charges, settlements } = this.#options
    const { next, ids } = await functions.listHolds(this.#cursor)
    this.#cursor = next
    const strays = ids.filter((id) => !holds.has(id) && !settlements.isPending(id))
    if (strays.length === 0) return
    // First: what these requests cost may be missing as well.
    settlements.sendPending(charges.names())
    const end = { mode: 'settle', tokens: undefined, isUrgent: true } as const
    settlements.send(
      strays.map((id) => ({ id, ...end })),
      [],
    )
  }
}
