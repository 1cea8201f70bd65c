import type { AccountEventType, Notify } from '../core/account-event.ts'
import type { BudgetScope } from '../core/accounts.ts'
import type { Millis, NanoUsd } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import type { BudgetObserver, BudgetSubject } from './budget-observer.ts'

export interface BudgetAlertOptions {
  readonly clock: Clock
  /** The percentages of the moment, ascending, each from 1 to 100. */
  readonly percentages: () => readonly number[]
  readonly notify: Notify
}

/** Exhaustion that an admitted request has armed again fires no sooner after the last event. */
const minExhaustedPause = 60_000

/**
 * Turns what becomes of budgets into events, each once in an epoch: a percentage that has been
 * passed stays silent until a higher cap puts it out of reach again. Exhaustion stays silent until a
 * higher cap gives headroom, or until a request has been admitted and a minute is over: a single
 * request that was too large must not hide the day on which the budget is really spent. A cap that
 * is lowered begins no epoch, and settles nothing by itself: what it puts behind the subject is told
 * by the next charge.
 */
export class BudgetAlerts implements BudgetObserver {
  readonly #options: BudgetAlertOptions
  /** Only of subjects to which something has happened that must not be told again. */
  readonly #states: Readonly<Record<BudgetScope, Map<string, AlertState>>> = {
    key: new Map(),
    group: new Map(),
  }

  constructor(options: BudgetAlertOptions) {
    this.#options = options
  }

  charged(subject: BudgetSubject): void {
    const { budgetMax } = subject.record
    if (budgetMax === null) return
    const percent = toPercent(subject.spent, budgetMax)
    const passed = this.#findState(subject)?.passed ?? 0
    if (percent <= passed) return
    this.#getOrCreateState(subject, budgetMax).passed = percent
    for (const threshold of this.#options.percentages()) {
      if (threshold > passed && threshold <= percent) {
        this.#fire('budget.threshold', subject, threshold)
      }
    }
  }

  refused(subject: BudgetSubject): void {
    const { budgetMax } = subject.record
    if (budgetMax === null) return
    const epoch = this.#getOrCreateState(subject, budgetMax)
    const now = this.#options.clock.elapsed()
    if (epoch.exhausted && !isArmed(epoch.exhausted, now)) return
    epoch.exhausted = { at: now, isAdmittedSince: false }
    this.#fire('budget.exhausted', subject, null)
  }

  admitted(subject: BudgetSubject): void {
    const exhausted = this.#findState(subject)?.exhausted
    if (exhausted) exhausted.isAdmittedSince = true
  }

  changed(subject: BudgetSubject): void {
    const epoch = this.#findState(subject)
    if (!epoch) return
    const { id, budgetMax } = subject.record
    const isRaised = budgetMax !== null && budgetMax > epoch.budgetMax
    const passed = isRaised
      ? Math.min(epoch.passed, toPercent(subject.spent, budgetMax))
      : epoch.passed
    const hasHeadroom = isRaised && subject.spent < budgetMax
    const exhausted = hasHeadroom ? undefined : epoch.exhausted
    if (budgetMax === null || (passed === 0 && !exhausted)) {
      this.#states[subject.scope].delete(id)
    } else {
      this.#states[subject.scope].set(id, { budgetMax, passed, exhausted })
    }
  }

  /** What had been passed by the last flush is taken as told. */
  loaded(subject: BudgetSubject): void {
    const { budgetMax } = subject.record
    if (budgetMax === null) return
    const passed = toPercent(subject.spent, budgetMax)
    if (passed > 0) this.#getOrCreateState(subject, budgetMax).passed = passed
  }

  #findState({ scope, record }: BudgetSubject): AlertState | undefined {
    return this.#states[scope].get(record.id)
  }

  #getOrCreateState(subject: BudgetSubject, budgetMax: NanoUsd): AlertState {
    const known = this.#findState(subject)
    if (known) return known
    const epoch = { budgetMax, passed: 0, exhausted: undefined }
    this.#states[subject.scope].set(subject.record.id, epoch)
    return epoch
  }

  #fire(type: AccountEventType, subject: BudgetSubject, threshold: number | null): void {
    const { scope, record, spent: budgetSpent } = subject
    const { id: subjectId, name, budgetMax } = record
    const timestamp = unixSeconds(this.#options.clock)
    const account = { scope, subjectId, name, budgetMax, budgetSpent }
    this.#options.notify({ type, ...account, threshold, timestamp })
  }
}

/** A stretch in which nothing is told twice. */
interface AlertState {
  /** The cap, to know a higher one by. */
  readonly budgetMax: NanoUsd
  /** The highest whole percent that has been reached; percentages up to it have been told. */
  passed: number
  /** The latest `budget.exhausted`. */
  exhausted: Exhaustion | undefined
}

interface Exhaustion {
  /** On the clock that never jumps. */
  readonly at: Millis
  /** A request has been admitted since. */
  isAdmittedSince: boolean
}

function isArmed({ at, isAdmittedSince }: Exhaustion, now: Millis): boolean {
  return isAdmittedSince && now - at >= minExhaustedPause
}

/**
 * The whole percents that are spent, 0 to 100. Rounded down, so that a percentage counts from the
 * very nano-dollar on that reaches it. Of a cap of 0 the first nano-dollar is all.
 */
function toPercent(spent: NanoUsd, max: NanoUsd): number {
  if (spent <= 0n) return 0
  return spent >= max ? 100 : Number((spent * 100n) / max)
}
