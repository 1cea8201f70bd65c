import type { BudgetTerm } from '../../core/budget-period.ts'
import { nameAccount, type SharedHold } from './hold.ts'
import type { ProcessCharges } from './process-charges.ts'
import type { Share, SubjectName } from './values.ts'

/** What a hold that has ended had reserved of a subject. */
interface EndedReservation {
  readonly since: number
  readonly amount: bigint
  /** The sequence number of the share that contains the charge of its request. */
  readonly sequence: number
}

/**
 * The reservations of this process that have ended, while the server may still have them. Their charges are added
 * to what the server replies, so that they must not count as reserved too.
 */
export class EndedHolds {
  readonly #charges: ProcessCharges
  readonly #reservations = new Map<SubjectName, Map<string, EndedReservation>>()

  constructor(charges: ProcessCharges) {
    this.#charges = charges
  }

  /** Adds a hold after its charge. */
  add({ id, subjects }: SharedHold): void {
    for (const { account, term, reserved } of subjects) {
      if (reserved === 0n) continue
      const name = nameAccount(account)
      const { sequence } = this.#charges.get(name)
      const entry = { since: term.since, amount: reserved, sequence }
      const known = this.#reservations.get(name)
      if (known) known.set(id, entry)
      else this.#reservations.set(name, new Map([[id, entry]]))
    }
  }

  /** The server has ended the hold. */
  delete({ id, subjects }: SharedHold): void {
    for (const { account } of subjects) {
      const name = nameAccount(account)
      const known = this.#reservations.get(name)
      known?.delete(id)
      if (known?.size === 0) this.#reservations.delete(name)
    }
  }

  /** Returns what is reserved of a term although it is charged, for a server that has this share. */
  sum(name: SubjectName, { since }: BudgetTerm, { sequence }: Share): bigint {
    let sum = 0n
    for (const entry of this.#reservations.get(name)?.values() ?? []) {
      if (entry.since === since && entry.sequence > sequence) sum += entry.amount
    }
    return sum
  }
}
