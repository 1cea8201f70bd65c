import type { NanoUsd } from '../../core/ids.ts'
import type { AccountEntry } from '../account-entry.ts'
import type { Alerts } from './alerts.ts'
import { nameAccount } from './hold.ts'
import { amountIn, type OwnShares } from './own-shares.ts'
import type { ServerClock } from './server-clock.ts'
import type { SharedSubject } from './values.ts'

export interface MirrorOptions {
  readonly own: OwnShares
  readonly clock: ServerClock
  readonly alerts: Alerts
}

/**
 * Keeps the accounts in memory as the server has said last, with the charges of this process that it does
 * not know yet.
 */
export class Mirror {
  readonly #options: MirrorOptions

  constructor(options: MirrorOptions) {
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
    const { own: shares, clock, alerts } = this.#options
    const { term, reserved, share, alert } = subject
    const own = shares.get(nameAccount(account))
    // Sums of nano-dollars.
    const spent = (subject.spent + amountIn(own, term) - amountIn(share, term)) as NanoUsd
    const spentTotal = (subject.spentTotal + own.total - share.total) as NanoUsd
    account.share({ spent, spentTotal, reserved, term })
    account.shareCounts(subject, clock.now())
    if (alert) alerts.follow(account, alert, subject.spent)
  }
}
