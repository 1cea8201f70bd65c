import type { Admission, AdmissionOutcome, UsageEstimate } from '../core/admission.ts'
import type { Millis, NanoUsd } from '../core/ids.ts'
import type { HeaderList } from '../core/ports.ts'
import type { ModelRoute } from '../core/provider.ts'
import { estimateMaxCost, estimateMaxTokens } from '../pricing/index.ts'
import type { Budget, GroupEntry, KeyEntry } from './budget.ts'
import { overBudget, tooManyRequests, tooManyTokens } from './limit-errors.ts'
import { rateHeaders } from './rate-headers.ts'
import type { WindowDebit } from './window.ts'

/** A request that asks to be let in. */
export interface AdmissionRequest {
  readonly key: KeyEntry
  /** The group that the key is in now; it stays the request's own, wherever the key goes. */
  readonly group: GroupEntry | undefined
  readonly route: ModelRoute
  readonly demand: () => UsageEstimate
  readonly now: Millis
  readonly reserveOutputTokens: number
  readonly book: BudgetBook
}

/** Is told what requests do to budgets. */
export interface BudgetBook {
  charged(budget: Budget): void
  refused(budget: Budget): void
  admitted(budget: Budget): void
}

/**
 * Admits a request or throws LM-4002, LM-4003 or LM-4001. Nothing is taken before everything has
 * been checked, so a refusal has nothing to give back.
 */
export function admit(entrant: AdmissionRequest): Admission {
  const { key, group, route, now, book } = entrant
  const { rpmLimit, tpmLimit } = key.record
  const budgets: readonly Budget[] = group ? [key, group] : [key]
  const isCapped = budgets.some(({ record }) => record.budgetMax !== null)

  checkRequests(key, now)
  const demand = tpmLimit !== null || isCapped ? entrant.demand() : nothing
  const tokens = estimateMaxTokens(route.chain, demand)
  checkTokens(key, tokens, now)
  const cost = isCapped ? estimateMaxCost(route.chain, demand, entrant.reserveOutputTokens) : 0n
  for (const budget of budgets) checkBudget(budget, cost, book)
  for (const budget of budgets) book.admitted(budget)

  return new KeyAdmission({
    key,
    now,
    book,
    request: rpmLimit === null ? undefined : key.requests.add(1, now),
    tokens: tpmLimit === null ? undefined : key.tokens.add(tokens, now),
    holds: budgets.map((budget) => hold(budget, cost)),
  })
}

const nothing: UsageEstimate = Object.freeze({ promptTokens: 0 })

function checkRequests(key: KeyEntry, now: Millis): void {
  const { rpmLimit } = key.record
  if (rpmLimit === null || key.requests.used(now) < rpmLimit) return
  throw tooManyRequests({
    limit: rpmLimit,
    retryAfter: key.requests.endsIn(now),
    headers: rateHeaders(key, now),
  })
}

function checkTokens(key: KeyEntry, needed: number, now: Millis): void {
  const { tpmLimit } = key.record
  if (tpmLimit === null || key.tokens.used(now) + needed <= tpmLimit) return
  throw tooManyTokens(needed, {
    limit: tpmLimit,
    retryAfter: key.tokens.endsIn(now),
    headers: rateHeaders(key, now),
  })
}

function checkBudget(budget: Budget, needed: bigint, book: BudgetBook): void {
  const { scope, record, spent, reserved, headroom } = budget
  if (record.budgetMax === null || headroom === undefined) return
  if (headroom > 0n && headroom >= needed) return
  book.refused(budget)
  throw overBudget(needed, { scope, budgetMax: record.budgetMax, budgetSpent: spent, reserved })
}

/** What a request has reserved of one budget. It is charged to it, even where nothing is reserved. */
interface Hold {
  readonly budget: Budget
  readonly reserved: bigint
}

function hold(budget: Budget, cost: bigint): Hold {
  const reserved = budget.record.budgetMax === null ? 0n : cost
  budget.reserve(reserved)
  return { budget, reserved }
}

interface Taken {
  readonly key: KeyEntry
  readonly now: Millis
  readonly book: BudgetBook
  readonly request: WindowDebit | undefined
  readonly tokens: WindowDebit | undefined
  readonly holds: readonly Hold[]
}

class KeyAdmission implements Admission {
  readonly headers: HeaderList
  readonly #taken: Taken
  /** What has been charged; undefined before the end and after a withdrawal. */
  #charged: bigint | undefined
  #ended = false

  constructor(taken: Taken) {
    this.#taken = taken
    this.headers = rateHeaders(taken.key, taken.now)
  }

  settle({ cost, tokens }: AdmissionOutcome): void {
    if (this.#ended) return
    this.#release()
    this.#charged = 0n
    this.adjust(cost)
    const { key, tokens: debit } = this.#taken
    if (debit && tokens !== undefined) key.tokens.correct(debit, tokens)
  }

  withdraw(): void {
    if (this.#ended) return
    this.#release()
    const { key, request, tokens } = this.#taken
    if (request) key.requests.correct(request, 0)
    if (tokens) key.tokens.correct(tokens, 0)
  }

  adjust(cost: NanoUsd): void {
    if (this.#charged === undefined) return
    const difference = cost - this.#charged
    this.#charged = cost
    if (difference === 0n) return
    const { holds, book } = this.#taken
    for (const { budget } of holds) {
      budget.charge(difference)
      book.charged(budget)
    }
  }

  #release(): void {
    this.#ended = true
    for (const { budget, reserved } of this.#taken.holds) budget.release(reserved)
  }
}
