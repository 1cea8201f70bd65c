import type { AccountEventType, Notify } from '../core/account-event.ts'
import type { BudgetScope } from '../core/accounts.ts'
import type { NanoUsd } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import { unixSeconds } from '../core/unix-seconds.ts'
import type { BudgetSubject, BudgetWatch } from './budget-watch.ts'

export interface ThresholdOptions {
  readonly clock: Clock
  /** The percentages of the moment, ascending, each from 1 to 100. */
  readonly percentages: () => readonly number[]
  readonly notify: Notify
}

/**
 * Turns what becomes of budgets into events, each once in an epoch: a percentage that has been
 * passed stays silent until a higher cap puts it out of reach again, and so does exhaustion until
 * a higher cap gives headroom. A cap that is lowered begins no epoch, and settles nothing by
 * itself: what it puts behind the subject is told by the next charge.
 */
export class Thresholds implements BudgetWatch {
  readonly #options: ThresholdOptions
  /** Only of subjects to which something has happened that must not be told again. */
  readonly #epochs: Readonly<Record<BudgetScope, Map<string, Epoch>>> = {
    key: new Map(),
    group: new Map(),
  }

  constructor(options: ThresholdOptions) {
    this.#options = options
  }

  charged(subject: BudgetSubject): void {
    const { budgetMax } = subject.record
    if (budgetMax === null) return
    const percent = percentOf(subject.spent, budgetMax)
    const passed = this.#epochOf(subject)?.passed ?? 0
    if (percent <= passed) return
    this.#begunEpoch(subject, budgetMax).passed = percent
    for (const threshold of this.#options.percentages()) {
      if (threshold > passed && threshold <= percent) {
        this.#tell('budget.threshold', subject, threshold)
      }
    }
  }

  refused(subject: BudgetSubject): void {
    const { budgetMax } = subject.record
    if (budgetMax === null) return
    const epoch = this.#begunEpoch(subject, budgetMax)
    if (epoch.isExhausted) return
    epoch.isExhausted = true
    this.#tell('budget.exhausted', subject, null)
  }

  changed(subject: BudgetSubject): void {
    const epoch = this.#epochOf(subject)
    if (!epoch) return
    const { id, budgetMax } = subject.record
    const isRaised = budgetMax !== null && budgetMax > epoch.budgetMax
    const passed = isRaised
      ? Math.min(epoch.passed, percentOf(subject.spent, budgetMax))
      : epoch.passed
    const isExhausted = epoch.isExhausted && !(isRaised && subject.spent < budgetMax)
    if (budgetMax === null || (passed === 0 && !isExhausted)) {
      this.#epochs[subject.scope].delete(id)
    } else {
      this.#epochs[subject.scope].set(id, { budgetMax, passed, isExhausted })
    }
  }

  /** What had been passed by the last flush is taken as told. */
  loaded(subject: BudgetSubject): void {
    const { budgetMax } = subject.record
    if (budgetMax === null) return
    const passed = percentOf(subject.spent, budgetMax)
    if (passed > 0) this.#begunEpoch(subject, budgetMax).passed = passed
  }

  #epochOf({ scope, record }: BudgetSubject): Epoch | undefined {
    return this.#epochs[scope].get(record.id)
  }

  #begunEpoch(subject: BudgetSubject, budgetMax: NanoUsd): Epoch {
    const known = this.#epochOf(subject)
    if (known) return known
    const epoch = { budgetMax, passed: 0, isExhausted: false }
    this.#epochs[subject.scope].set(subject.record.id, epoch)
    return epoch
  }

  #tell(type: AccountEventType, subject: BudgetSubject, threshold: number | null): void {
    const { scope, record, spent: budgetSpent } = subject
    const { id: subjectId, name, budgetMax } = record
    const timestamp = unixSeconds(this.#options.clock)
    const account = { scope, subjectId, name, budgetMax, budgetSpent }
    this.#options.notify({ type, ...account, threshold, timestamp })
  }
}

/** A stretch in which nothing is told twice. */
interface Epoch {
  /** The cap, to know a higher one by. */
  readonly budgetMax: NanoUsd
  /** The highest whole percent that has been reached; percentages up to it have been told. */
  passed: number
  isExhausted: boolean
}

/**
 * The whole percents that are spent, 0 to 100. Rounded down, so that a percentage counts from the
 * very nano-dollar on that reaches it. Of a cap of 0 the first nano-dollar is all.
 */
function percentOf(spent: NanoUsd, max: NanoUsd): number {
  if (spent <= 0n) return 0
  return spent >= max ? 100 : Number((spent * 100n) / max)
}
