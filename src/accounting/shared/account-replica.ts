import type { NanoUsd } from '../../core/ids.ts'
import type { AccountEntry } from '../account-entry.ts'
import type { Alerts } from './alerts.ts'
import type { EndedHolds } from './ended-holds.ts'
import { nameAccount } from './hold.ts'
import { amountIn, type ProcessCharges } from './process-charges.ts'
import type { ServerClock } from './server-clock.ts'
import type { SharedSubject } from './values.ts'

export interface AccountReplicaOptions {
  readonly charges: ProcessCharges
  readonly ended: EndedHolds
  readonly clock: ServerClock
  readonly alerts: Alerts
}

/**
 * Keeps the accounts in memory as the server has said last, with the charges of this process that it does
 * not know yet, which count as reserved there.
 */
export class AccountReplica {
  readonly #options: AccountReplicaOptions

  constructor(options: AccountReplicaOptions) {
    this.#options = options
  }

  /** Follows a reply, and fires its alerts. Leaves out accounts that this process does not know. */
  follow(
    accounts: readonly (AccountEntry | undefined)[],
    subjects: readonly SharedSubject[],
  ): void {
    for (const [at, subject] of subjects.entries()) {
      const account = accounts[at]
      if (account) this.#share(account, subject)
    }
  }

  #share(account: AccountEntry, subject: SharedSubject): void {
    const { charges, ended, clock, alerts } = this.#options
    const { term, share, alert } = subject
    const name = nameAccount(account)
    const own = charges.get(name)
    // Sums of nano-dollars.
    const held = subject.reserved - ended.sum(name, term, share)
    // A server that has lost its data has none of them.
    const reserved = (held > 0n ? held : 0n) as NanoUsd
    const spent = (subject.spent + amountIn(own, term) - amountIn(share, term)) as NanoUsd
    const spentTotal = (subject.spentTotal + own.total - share.total) as NanoUsd
    account.share({ spent, spentTotal, reserved, term })
    account.shareCounts(subject, clock.now())
    if (alert) alerts.follow(account, alert, subject.spent)
  }
}
