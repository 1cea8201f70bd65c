import type { NanoUsd } from '../../core/ids.ts'
import type { SharedState } from '../../core/shared-state.ts'
import type { AccountEntry } from '../account-entry.ts'
import { toPercent } from '../budget-alerts.ts'
import type { BudgetEvents } from '../budget-events.ts'
import type { SharedAlert } from './values.ts'

export interface AlertsOptions {
  readonly state: Pick<SharedState, 'isUp'>
  readonly onLoss: 'refuse' | 'local'
  readonly events: Pick<BudgetEvents, 'fireRise' | 'fireExhausted'>
}

/**
 * Fires the alerts of the server. While it is away and this process admits requests alone, fires what this
 * process finds itself; the server, which learns of those charges later, does not make it fire again.
 */
export class Alerts {
  readonly #options: AlertsOptions
  /** Only for accounts that were charged or refused while the server was away. */
  readonly #own = new WeakMap<AccountEntry, OwnAlerts>()

  constructor(options: AlertsOptions) {
    this.#options = options
  }

  /** Fires an alert of the server, except for what this process has fired already. */
  follow(account: AccountEntry, alert: SharedAlert, spent: NanoUsd): void {
    const { events } = this.#options
    const subject = { scope: account.scope, record: account.record, spent }
    const own = this.#find(account)
    if (alert.kind === 'exhausted') {
      if (!own?.isExhausted) events.fireExhausted(subject)
      else own.isExhausted = false
      return
    }
    const { from, to } = alert
    if (!own) return events.fireRise(subject, alert)
    events.fireRise(subject, { from, to: Math.min(to, own.low) })
    events.fireRise(subject, { from: Math.max(from, own.high), to })
  }

  /** The spend of an account has changed. */
  charged(account: AccountEntry, before: NanoUsd): void {
    const { budgetMax } = account.record
    if (!this.#isAlone || budgetMax === null) return
    const from = toPercent(before, budgetMax)
    const to = toPercent(account.spent, budgetMax)
    const own = this.#find(account) ?? this.#begin(account, from)
    // The server has answered in between, and has fired the percentages up to here.
    if (from > own.high) Object.assign(own, { low: from, high: from })
    if (to <= own.high) return
    this.#options.events.fireRise(account, { from: own.high, to })
    own.high = to
  }

  /** A request was refused because of the budget of an account. */
  refused(account: AccountEntry): void {
    const { budgetMax } = account.record
    if (!this.#isAlone || budgetMax === null) return
    const own = this.#find(account) ?? this.#begin(account, toPercent(account.spent, budgetMax))
    if (own.isExhausted) return
    own.isExhausted = true
    this.#options.events.fireExhausted(account)
  }

  get #isAlone(): boolean {
    const { state, onLoss } = this.#options
    return onLoss === 'local' && !state.isUp
  }

  /** A new term or another cap arms everything. */
  #find(account: AccountEntry): OwnAlerts | undefined {
    const own = this.#own.get(account)
    const isSame = own?.since === account.term.since && own.budgetMax === account.record.budgetMax
    return isSame ? own : undefined
  }

  #begin(account: AccountEntry, percent: number): OwnAlerts {
    const { term, record } = account
    const { since } = term
    const { budgetMax } = record
    const own = { since, budgetMax, low: percent, high: percent, isExhausted: false }
    this.#own.set(account, own)
    return own
  }
}

/** What this process alone has fired for an account. */
interface OwnAlerts {
  readonly since: number
  readonly budgetMax: NanoUsd | null
  /** The percentages above `low` up to `high`. */
  low: number
  high: number
  /** `budget.exhausted`, of which the server does not know yet. */
  isExhausted: boolean
}
