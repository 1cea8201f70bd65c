import type { Extension } from '../../core/admission.ts'
import type { AccountEntry } from '../account-entry.ts'
import type { HoldLedger } from './admission.ts'
import type { Alerts } from './alerts.ts'
import type { EndedHolds } from './ended-holds.ts'
import type { Extensions } from './extensions.ts'
import type { HoldEnd } from './functions.ts'
import { type ChargedHold, listSubjects, nameAccount, type SharedHold } from './hold.ts'
import type { OpenHolds } from './open-holds.ts'
import type { ProcessCharges } from './process-charges.ts'
import type { Settlements } from './settlements.ts'

export interface HoldEndsOptions {
  readonly alerts: Alerts
  readonly holds: OpenHolds
  readonly ended: EndedHolds
  readonly charges: ProcessCharges
  readonly settlements: Settlements
  readonly extensions: Extensions
}

/** Settles, withdraws and extends holds: their ends count in memory at once, and on the server with the next call. */
export class HoldEnds implements HoldLedger {
  readonly #options: HoldEndsOptions

  constructor(options: HoldEndsOptions) {
    this.#options = options
  }

  charge({ subjects }: ChargedHold, amount: bigint): void {
    if (amount === 0n) return
    for (const { account, term } of subjects) {
      const before = account.spent
      if (account.charge(amount, term)) this.#options.alerts.charged(account, before)
      this.#options.charges.charge(nameAccount(account), amount, term)
    }
  }

  end(hold: SharedHold, { mode, tokens }: Pick<HoldEnd, 'mode' | 'tokens'>): void {
    const { id, subjects, facts } = hold
    const { holds, ended, settlements } = this.#options
    for (const { account, term, reserved } of subjects) {
      account.leave()
      account.release(reserved, term)
    }
    const isKnown = holds.end(id)
    const isUrgent = mode === 'withdraw' || subjects.some(({ account }) => hasPlaces(account))
    if (isKnown) ended.add(hold)
    const onOutcome = () => ended.delete(hold)
    const ends = isKnown ? [{ id, mode, tokens, isUrgent, onOutcome }] : []
    const isFree = mode === 'withdraw' && facts.cost === 0n
    settlements.send(ends, isFree ? [] : listSubjects(hold))
  }

  deliver(hold: ChargedHold): void {
    this.#options.settlements.send([], listSubjects(hold))
  }

  extend(hold: SharedHold, cost: bigint): Promise<Extension> {
    return this.#options.extensions.extend(hold, cost)
  }
}

/** True when the end of a request makes room for another one. That of a request of the minute does not. */
function hasPlaces({ record: { tpmLimit, maxParallel, budgetMax } }: AccountEntry): boolean {
  return tpmLimit !== null || maxParallel !== null || budgetMax !== null
}
