import type { Admission, AdmissionOutcome, UsageEstimate } from '../core/admission.ts'
import type { Millis, NanoUsd } from '../core/ids.ts'
import type { HeaderList } from '../core/ports.ts'
import type { ModelRoute } from '../core/provider.ts'
import { estimateMaxCost, estimateMaxTokens } from '../pricing/index.ts'
import type { Budget, GroupEntry, KeyEntry } from './budget.ts'
import type { BudgetObserver } from './budget-observer.ts'
import { overBudget, tooManyRequests, tooManyTokens } from './limit-errors.ts'
import { buildRateHeaders } from './rate-headers.ts'
import type { WindowDebit } from './window.ts'

/** A request that asks for admission. */
export interface AdmissionRequest {
  readonly key: KeyEntry
  /** The group that the key is in now. The request is charged to it even if the key leaves it. */
  readonly group: GroupEntry | undefined
  readonly route: ModelRoute
  /** Called only when a limit or a cap needs it. */
  readonly estimate: () => UsageEstimate
  readonly now: Millis
  readonly reserveOutputTokens: number
  readonly observer: BudgetObserver
}

/**
 * Admits a request or throws LM-4002, LM-4003 or LM-4001. All checks come before the first debit,
 * so a refused request has nothing to give back.
 */
export function admit(request: AdmissionRequest): Admission {
  const { key, group, route, now, observer } = request
  const { rpmLimit, tpmLimit } = key.record
  const budgets: readonly Budget[] = group ? [key, group] : [key]
  const isCapped = budgets.some(({ record }) => record.budgetMax !== null)

  checkRequests(key, now)
  const estimate = tpmLimit !== null || isCapped ? request.estimate() : noUsage
  const tokens = estimateMaxTokens(route.chain, estimate)
  checkTokens(key, tokens, now)
  const cost = isCapped ? estimateMaxCost(route.chain, estimate, request.reserveOutputTokens) : 0n
  for (const budget of budgets) checkBudget(budget, cost, observer)
  for (const budget of budgets) observer.admitted(budget)

  return new KeyAdmission({
    key,
    now,
    observer,
    request: rpmLimit === null ? undefined : key.requests.add(1, now),
    tokens: tpmLimit === null ? undefined : key.tokens.add(tokens, now),
    holds: budgets.map((budget) => reserve(budget, cost)),
  })
}

const noUsage: UsageEstimate = Object.freeze({ promptTokens: 0 })

function checkRequests(key: KeyEntry, now: Millis): void {
  const { rpmLimit } = key.record
  if (rpmLimit === null || key.requests.used(now) < rpmLimit) return
  throw tooManyRequests({
    limit: rpmLimit,
    retryAfter: key.requests.endsIn(now),
    headers: buildRateHeaders(key, now),
  })
}

function checkTokens(key: KeyEntry, needed: number, now: Millis): void {
  const { tpmLimit } = key.record
  if (tpmLimit === null || key.tokens.used(now) + needed <= tpmLimit) return
  throw tooManyTokens(needed, {
    limit: tpmLimit,
    retryAfter: key.tokens.endsIn(now),
    headers: buildRateHeaders(key, now),
  })
}

function checkBudget(budget: Budget, needed: bigint, observer: BudgetObserver): void {
  const { scope, record, spent, reserved, headroom } = budget
  if (record.budgetMax === null || headroom === undefined) return
  if (headroom > 0n && headroom >= needed) return
  observer.refused(budget)
  throw overBudget(needed, { scope, budgetMax: record.budgetMax, budgetSpent: spent, reserved })
}

/** A budget that the request is charged to, and what it reserves there: 0 without a cap. */
interface BudgetHold {
  readonly budget: Budget
  readonly reserved: bigint
}

function reserve(budget: Budget, cost: bigint): BudgetHold {
  const reserved = budget.record.budgetMax === null ? 0n : cost
  budget.reserve(reserved)
  return { budget, reserved }
}

/** Everything that an admitted request has debited and reserved. */
interface Reservation {
  readonly key: KeyEntry
  readonly now: Millis
  readonly observer: BudgetObserver
  /** The debits of the minute windows; undefined where the key has no such limit. */
  readonly request: WindowDebit | undefined
  readonly tokens: WindowDebit | undefined
  readonly holds: readonly BudgetHold[]
}

class KeyAdmission implements Admission {
  readonly headers: HeaderList
  readonly #reservation: Reservation
  /** The amount charged so far; undefined before the end and after a withdrawal. */
  #charged: bigint | undefined
  #isEnded = false

  constructor(reservation: Reservation) {
    this.#reservation = reservation
    this.headers = buildRateHeaders(reservation.key, reservation.now)
  }

  settle({ cost, tokens }: AdmissionOutcome): void {
    if (this.#isEnded) return
    this.#release()
    this.#charged = 0n
    this.adjust(cost)
    const { key, tokens: debit } = this.#reservation
    if (debit && tokens !== undefined) key.tokens.adjust(debit, tokens)
  }

  withdraw(): void {
    if (this.#isEnded) return
    this.#release()
    const { key, request, tokens } = this.#reservation
    if (request) key.requests.adjust(request, 0)
    if (tokens) key.tokens.adjust(tokens, 0)
  }

  adjust(cost: NanoUsd): void {
    if (this.#charged === undefined) return
    const difference = cost - this.#charged
    this.#charged = cost
    if (difference === 0n) return
    const { holds, observer } = this.#reservation
    for (const { budget } of holds) {
      budget.charge(difference)
      observer.charged(budget)
    }
  }

  #release(): void {
    this.#isEnded = true
    for (const { budget, reserved } of this.#reservation.holds) budget.release(reserved)
  }
}
