import type { Admission, AdmissionOutcome, Extension, UsageEstimate } from '../core/admission.ts'
import type { BudgetTerm } from '../core/budget-period.ts'
import type { NanoUsd } from '../core/ids.ts'
import type { HeaderList } from '../core/ports.ts'
import { estimateMaxCost, estimateMaxTokens } from '../pricing/index.ts'
import type { AccountEntry } from './account-entry.ts'
import { checkBudgets, checkParallel, checkRequests, checkTokens } from './admission-checks.ts'
import type { AdmissionRequest, CheckedRequest, PreviewRequest } from './admission-request.ts'
import type { BudgetObserver } from './budget-observer.ts'
import { buildRateHeaders } from './rate-headers.ts'
import type { WindowDebit } from './window.ts'

/**
 * Admits a request or throws LM-4002, LM-4003, LM-4006 or LM-4001. All checks come before the first
 * debit, so a refused request has nothing to give back.
 */
export function admit(request: AdmissionRequest): Admission {
  const { accounts, now, observer } = request
  const demand = checkAdmission(request)
  // One that passes a spent budget does not arm its alert again.
  if (!demand.isFree) for (const account of accounts) observer.admitted(account)
  const holds = holdAccounts(demand, request)
  return new KeyAdmission({ holds, observer, headers: buildRateHeaders(accounts, now) })
}

/** Debits and reserves what an admitted request may use. */
export function holdAccounts(
  { tokens, cost }: Pick<Demand, 'tokens' | 'cost'>,
  request: CheckedRequest,
): AccountHold[] {
  const { accounts, now } = request
  return accounts.map((account) => {
    const { rpmLimit, tpmLimit, budgetMax } = account.record
    const reserved = budgetMax === null ? 0n : cost
    account.enter()
    account.reserve(reserved)
    return {
      account,
      term: account.term,
      request: rpmLimit === null ? undefined : account.requests.add(1, now),
      tokens: tpmLimit === null ? undefined : account.tokens.add(tokens, now),
      reserved,
    }
  })
}

/** Throws what `admit` would throw now. Changes no count, and reports no refusal. */
export function previewAdmission(request: PreviewRequest): void {
  const { observer } = request
  const turned: BudgetObserver['turned'] = (account) => observer.turned(account)
  checkAdmission({ ...request, observer: { turned, refused() {} } })
}

/** Makes every check of an admission. Returns the most that the request uses. */
export function checkAdmission(request: CheckedRequest): Demand {
  const { accounts, now, observer } = request
  for (const account of accounts) {
    if (account.turn(now)) observer.turned(account)
  }
  // Before the estimate, which takes longer.
  checkRequests(request)
  const demand = estimateDemand(request)
  checkTokens(demand.tokens, request)
  checkParallel(request)
  if (!demand.isFree) checkBudgets(demand.cost, request)
  return demand
}

/** The most that a request uses, as far as its limits need it. */
export interface Demand {
  readonly tokens: number
  readonly cost: bigint
  /** Every link has its prices configured as 0, so that a spent budget does not refuse the request. */
  readonly isFree: boolean
}

export function estimateDemand(request: CheckedRequest): Demand {
  const { accounts, route, reserveOutputTokens } = request
  const isCapped = accounts.some(hasCap)
  const estimate = hasEstimatedLimit(request) ? request.estimate() : noUsage
  return {
    tokens: estimateMaxTokens(route.chain, estimate),
    cost: isCapped ? estimateMaxCost(route.chain, estimate, reserveOutputTokens) : 0n,
    isFree: isCapped && route.chain.every((link) => link.isFree),
  }
}

/** Whether a limit or a cap is on what a request is estimated to use. */
export function hasEstimatedLimit({ accounts }: Pick<CheckedRequest, 'accounts'>): boolean {
  return accounts.some((account) => hasCap(account) || hasTokenLimit(account))
}

const noUsage: UsageEstimate = Object.freeze({ promptTokens: 0 })

const hasCap = ({ record }: AccountEntry): boolean => record.budgetMax !== null
const hasTokenLimit = ({ record }: AccountEntry): boolean => record.tpmLimit !== null

/** What an admitted request holds of one account. */
export interface AccountHold {
  readonly account: AccountEntry
  /** The term of its budget, to which the request is charged. */
  readonly term: BudgetTerm
  /** The debits of the minute windows; undefined where the account has no such limit. */
  readonly request: WindowDebit | undefined
  readonly tokens: WindowDebit | undefined
  /** Reserved of the budget: 0 without a cap. */
  readonly reserved: bigint
}

/** What is reserved of the accounts that have a cap, which is the same for all. */
export function findReserved(
  holds: readonly Pick<AccountHold, 'account' | 'reserved'>[],
): NanoUsd | undefined {
  const capped = holds.find(({ account }) => account.record.budgetMax !== null)
  // An amount of nano-dollars.
  return capped && (capped.reserved as NanoUsd)
}

/** Everything that an admitted request has debited and reserved. */
interface Reservation {
  readonly holds: readonly AccountHold[]
  readonly observer: BudgetObserver
  readonly headers: HeaderList
}

class KeyAdmission implements Admission {
  readonly headers: HeaderList
  /** That of the key, and that of its group. */
  readonly #holds: readonly AccountHold[]
  readonly #observer: BudgetObserver
  /** The amount charged so far; undefined before the end and after a withdrawal. */
  #charged: bigint | undefined
  /** Reserved since the admission, of each budget that reserves anything. */
  #extended = 0n
  #isEnded = false

  constructor({ holds, observer, headers }: Reservation) {
    this.headers = headers
    this.#holds = holds
    this.#observer = observer
  }

  get keyTerm(): BudgetTerm | undefined {
    return this.#holds[0]?.term
  }

  get groupTerm(): BudgetTerm | undefined {
    return this.#holds[1]?.term
  }

  get reserved(): NanoUsd | undefined {
    const reserved = findReserved(this.#holds)
    return reserved === undefined ? undefined : ((reserved + this.#extended) as NanoUsd)
  }

  settle({ cost, tokens: used }: AdmissionOutcome): void {
    if (this.#isEnded) return
    this.#release()
    this.#charged = 0n
    this.adjust(cost)
    if (used === undefined) return
    for (const { account, tokens } of this.#holds) {
      if (tokens) account.tokens.adjust(tokens, used)
    }
  }

  withdraw(): void {
    if (this.#isEnded) return
    this.#release()
    for (const { account, request, tokens } of this.#holds) {
      if (request) account.requests.adjust(request, 0)
      if (tokens) account.tokens.adjust(tokens, 0)
    }
  }

  extend(cost: NanoUsd): Extension {
    if (this.#isEnded) return 'reserved'
    if (!hasRoom(this.#holds, cost)) return 'no-room'
    this.#extended += cost
    for (const { account, term, reserved } of this.#holds) {
      if (reserved > 0n && isPresent(account, term)) account.reserve(cost)
    }
    return 'reserved'
  }

  adjust(cost: NanoUsd): void {
    if (this.#charged === undefined) return
    const difference = cost - this.#charged
    this.#charged = cost
    if (difference === 0n) return
    for (const { account, term } of this.#holds) {
      if (account.charge(difference, term)) this.#observer.charged(account)
    }
  }

  #release(): void {
    this.#isEnded = true
    for (const { account, term, reserved } of this.#holds) {
      account.leave()
      account.release(reserved > 0n ? reserved + this.#extended : 0n, term)
    }
  }
}

/** Whether every budget that reserves anything for a request has room for this amount too. */
export function hasRoom(
  holds: readonly Pick<AccountHold, 'account' | 'term' | 'reserved'>[],
  cost: bigint,
): boolean {
  return holds.every(({ account, term, reserved }) => {
    const isHeld = reserved > 0n && isPresent(account, term)
    return !isHeld || (account.headroom ?? cost) >= cost
  })
}

/** A term that is over has nothing reserved: the request is charged to it all the same. */
export function isPresent(account: AccountEntry, { since }: BudgetTerm): boolean {
  return account.term.since === since
}
