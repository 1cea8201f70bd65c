import type { BudgetScope } from '../core/accounts.ts'
import type { Millis, NanoUsd } from '../core/ids.ts'
import type { Clock } from '../core/ports.ts'
import { type BudgetEventOptions, BudgetEvents } from './budget-events.ts'
import type { BudgetObserver, BudgetSubject } from './budget-observer.ts'

/** The minimum time between two `budget.exhausted` events for the same cap, in milliseconds. */
const minExhaustedPause = 60_000

/**
 * Turns changes of budgets into events, and fires each of them once. A percentage that has fired is
 * armed again when a higher cap puts the spend below it. Exhaustion is armed again when a higher
 * cap gives headroom, or when a request has been admitted and a minute has passed: a single request
 * that was too large must not hide the day on which the budget is really spent. Lowering a cap arms
 * and fires nothing; percentages that it puts behind the spend fire on the next charge. A reset of
 * the budget arms everything.
 */
export class BudgetAlerts implements BudgetObserver {
  readonly #clock: Clock
  readonly #events: BudgetEvents
  /** Only for subjects with alerts that have already fired. */
  readonly #states: Readonly<Record<BudgetScope, Map<string, AlertState>>> = {
    key: new Map(),
    group: new Map(),
  }

  constructor(options: BudgetEventOptions) {
    this.#clock = options.clock
    this.#events = new BudgetEvents(options)
  }

  charged(subject: BudgetSubject): void {
    const { budgetMax } = subject.record
    if (budgetMax === null) return
    const percent = toPercent(subject.spent, budgetMax)
    const passed = this.#findState(subject)?.passed ?? 0
    if (percent <= passed) return
    this.#getOrCreateState(subject, budgetMax).passed = percent
    this.#events.fireRise(subject, { from: passed, to: percent })
  }

  refused(subject: BudgetSubject): void {
    const { budgetMax } = subject.record
    if (budgetMax === null) return
    const state = this.#getOrCreateState(subject, budgetMax)
    const now = this.#clock.elapsed()
    if (state.exhausted && !isArmed(state.exhausted, now)) return
    state.exhausted = { at: now, isAdmittedSince: false }
    this.#events.fireExhausted(subject)
  }

  admitted(subject: BudgetSubject): void {
    const exhausted = this.#findState(subject)?.exhausted
    if (exhausted) exhausted.isAdmittedSince = true
  }

  changed(subject: BudgetSubject): void {
    const state = this.#findState(subject)
    if (!state) return
    const { id, budgetMax } = subject.record
    const isRaised = budgetMax !== null && budgetMax > state.budgetMax
    const passed = isRaised
      ? Math.min(state.passed, toPercent(subject.spent, budgetMax))
      : state.passed
    const hasHeadroom = isRaised && subject.spent < budgetMax
    const exhausted = hasHeadroom ? undefined : state.exhausted
    if (budgetMax === null || (passed === 0 && !exhausted)) {
      this.#states[subject.scope].delete(id)
    } else {
      this.#states[subject.scope].set(id, { budgetMax, passed, exhausted })
    }
  }

  turned({ scope, record }: BudgetSubject): void {
    this.#states[scope].delete(record.id)
  }

  /** Percentages that the known spend has reached count as fired. */
  loaded(subject: BudgetSubject, known: NanoUsd = subject.spent): void {
    const { budgetMax } = subject.record
    if (budgetMax === null) return
    const passed = toPercent(known, budgetMax)
    if (passed > 0) this.#getOrCreateState(subject, budgetMax).passed = passed
  }

  #findState({ scope, record }: BudgetSubject): AlertState | undefined {
    return this.#states[scope].get(record.id)
  }

  #getOrCreateState(subject: BudgetSubject, budgetMax: NanoUsd): AlertState {
    const known = this.#findState(subject)
    if (known) return known
    const state = { budgetMax, passed: 0, exhausted: undefined }
    this.#states[subject.scope].set(subject.record.id, state)
    return state
  }
}

/** The alerts of a subject that have fired under its present cap. */
interface AlertState {
  /** The cap; a higher one arms alerts again. */
  readonly budgetMax: NanoUsd
  /** The highest whole percent that spend has reached; percentages up to it have fired. */
  passed: number
  /** The latest `budget.exhausted`; undefined when none has fired. */
  exhausted: Exhaustion | undefined
}

interface Exhaustion {
  /** By the monotonic clock. */
  readonly at: Millis
  /** A request has been admitted since then. */
  isAdmittedSince: boolean
}

function isArmed({ at, isAdmittedSince }: Exhaustion, now: Millis): boolean {
  return isAdmittedSince && now - at >= minExhaustedPause
}

/**
 * Returns the spend in whole percent of the cap, 0 to 100. It is rounded down, so a percentage is
 * reached by the exact nano-dollar. With a cap of 0, the first nano-dollar is 100 percent.
 */
export function toPercent(spent: NanoUsd, max: NanoUsd): number {
  if (spent <= 0n) return 0
  return spent >= max ? 100 : Number((spent * 100n) / max)
}
